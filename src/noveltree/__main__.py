"""`python -m noveltree`."""

from noveltree.cli import main

if __name__ == "__main__":
    main()
