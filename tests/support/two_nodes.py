"""A Ray cluster of two nodes with one core each: `python -m tests.support.two_nodes`.

It wants the token in RAY_AUTH_TOKEN. Prints its address, and a line when it has done what a line on standard input
says: "kill" the second node at once, as if it had lost its power, or "add" another in its place. The end of
standard input ends the cluster.
"""

from __future__ import annotations

import itertools
import sys

from ray.cluster_utils import Cluster

#: Ray asks every node every three seconds whether it lives, and takes it for dead after the fifth time.
OFTEN = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 500}


def main() -> None:
    # Ray takes 127.0.0.1 for the address by which others reach this machine; these it leaves alone.
    nodes = ({"num_cpus": 1, "node_ip_address": f"127.0.0.{number}"} for number in itertools.count(2))
    head = {**next(nodes), "include_dashboard": False, "_system_config": OFTEN}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        other = cluster.add_node(**next(nodes))
        cluster.wait_for_nodes()
        print(cluster.address, flush=True)
        for line in sys.stdin:
            if line == "kill\n":
                cluster.remove_node(other, allow_graceful=False)
            else:
                other = cluster.add_node(**next(nodes))
                cluster.wait_for_nodes()
            print("done", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
