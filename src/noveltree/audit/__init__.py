"""Is all that is on disk true?

audit        a whole directory, at a depth: replayed, planned again, learnt again; and its manifest
auditor      whoever does that
episodes     every episode, replayed
runs         a run: its result, its episodes, its learning
training     what a run says of its learning, against its episodes; the loops are followed in
             intervals, rounds and collecting
deeper       episodes planned again, runs that learn again
sampling     which episodes are planned again, and what that finds
benchmarks   a benchmark: its suite, its plan, its tables
"""

from noveltree.audit.audit import audit as audit
from noveltree.audit.auditor import Depth as Depth
from noveltree.audit.benchmarks import check_benchmark as check_benchmark
from noveltree.audit.deeper import plan_file as plan_file
from noveltree.audit.findings import Audit as Audit
from noveltree.audit.findings import Finding as Finding
from noveltree.audit.sampling import SAMPLE as SAMPLE
from noveltree.audit.sampling import strength as strength
