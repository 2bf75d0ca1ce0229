"""A Ray cluster of two nodes with one core each: `python -m tests.support.two_nodes`.

It wants the token in RAY_AUTH_TOKEN. Prints its address; a line on standard input
kills the second node at once, as if it had lost its power; the end of standard input ends the cluster.
"""

from __future__ import annotations

import sys

from ray.cluster_utils import Cluster


def main() -> None:
    # Ray takes 127.0.0.1 for the address by which others reach this machine; these it leaves alone.
    first, second = ({"num_cpus": 1, "node_ip_address": f"127.0.0.{number}"} for number in (2, 3))
    cluster = Cluster(initialize_head=True, head_node_args={**first, "include_dashboard": False})
    try:
        other = cluster.add_node(**second)
        cluster.wait_for_nodes()
        print(cluster.address, flush=True)
        if sys.stdin.readline():
            cluster.remove_node(other, allow_graceful=False)
            print("killed", flush=True)
            sys.stdin.read()
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
