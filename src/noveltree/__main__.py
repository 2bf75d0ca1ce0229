"""The command `noveltree`, and `python -m noveltree`: whoever interrupts it while it loads sees one line, too."""

import os
import signal


def main() -> None:
    """Heed interrupts first, then import the command line and run it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as it is in background jobs
            signal.signal(number, _leave)
    from noveltree.cli import main as run

    run()


def _leave(number: int, frame: object) -> None:
    os.write(2, b"Interrupted.\n")
    os._exit(130)


if __name__ == "__main__":
    main()
