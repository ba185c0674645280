"""What kafka-consumer-groups and our `groups` are asked, one command line a row.

{since} and the like are places of times, {folder} is a folder.
"""

from __future__ import annotations

from typing import Final

REFUNDS: Final = "refunds-and-complaints"
INVOICES: Final = "invoices-of-many-customers"
"""Long enough for Kafka's tool to quote it in CSV."""
ASSIGNING: Final = "modern-and-assigning"
RECONCILING: Final = "modern-and-reconciling"
EVERY_KIND: Final = (
    "--group billing-with-a-long-name --group simple --group static --group modern-with-a-long-name "
    "--group modern-and-idle --group moving"
)

LISTS: Final = (
    "--list",
    "--list --state",
    "--list --type",
    "--list --state --type",
    "--list --state stable --type",
    "--list --state Empty,PreparingRebalance",
    "--list --type consumer",
    "--list --type Classic,CONSUMER --state",
    "--list --state dead",
)

DESCRIPTIONS: Final = (
    *(
        f"--describe {EVERY_KIND} {view}".strip()
        for view in (
            *("", "--offsets --verbose", "--members", "--members --verbose"),
            *("--state", "--state --verbose"),
        )
    ),
    "--describe --group simple --offsets",
    "--describe --group simple --members",
    "--describe --group simple --state",
    "--describe --group modern-and-idle",
    "--describe --group modern-and-idle --members --verbose",
    "--describe --group simple --group simple --timeout 20000",
    "--describe --group below-0 --verbose",
    "--describe --all-groups",
    "--describe --all-groups --members --verbose",
    "--describe --all-groups --state --verbose",
    "--describe --group rebalancing",
    "--describe --group rebalancing --members --verbose",
    "--describe --group rebalancing --state --verbose",
    "--describe --group unknown",
    "--describe --group unknown --members",
    "--describe --group unknown --state",
    "--describe --group simple --command-config {folder}/client.properties",
)

BETWEEN_STATES: Final = (
    "--list --state",
    "--list --state Assigning,reconciling --type",
    *(
        f"--describe --group {ASSIGNING} --group {RECONCILING} {view}".strip()
        for view in ("", "--offsets --verbose", "--members", "--members --verbose", "--state")
    ),
    f"--describe --group {RECONCILING} --state --verbose",
    f"--describe --group {ASSIGNING} --state --verbose",
    f"--reset-offsets --group {ASSIGNING} --topic orders --to-earliest --dry-run",
    f"--reset-offsets --group {RECONCILING} --topic orders --to-earliest --execute",
    f"--delete --group {ASSIGNING}",
    f"--delete-offsets --group {RECONCILING} --topic orders:0",
)
"""Of groups that are Assigning and Reconciling."""

DRY_RUNS: Final = (
    f"--group simple --topic orders --topic {REFUNDS} --to-earliest --dry-run",
    "--group simple --topic orders --to-earliest",
    "--group simple --topic orders:0,1,5 --to-latest --dry-run",
    "--group simple --all-topics --to-current --dry-run",
    "--group simple --topic orders --to-current --dry-run",
    "--group simple --topic orders --to-offset 2 --dry-run",
    "--group simple --topic orders:2 --topic orders:3 --to-offset 0 --dry-run",
    "--group simple --topic orders:0,1 --to-offset 100 --dry-run",
    "--group simple --topic orders:0, --topic orders:+1 --to-offset +2 --dry-run",
    "--group simple --topic orders:00: --to-earliest --dry-run",
    "--group simple --topic orders:, --to-earliest --dry-run",
    "--group simple --topic orders:-1 --to-earliest --dry-run",
    f"--group archive --topic {INVOICES} --to-offset 1 --dry-run",
    f"--group archive --topic {INVOICES} --to-earliest --dry-run",
    "--group simple --all-topics --shift-by -1 --dry-run",
    "--group archive --all-topics --shift-by 1 --dry-run",
    "--group archive --all-topics --shift-by -100 --dry-run",
    "--group archive --all-topics --to-datetime {since} --dry-run",
    "--group archive --all-topics --to-datetime {since}Z --dry-run",
    "--group archive --all-topics --to-datetime {since_in_paris} --dry-run",
    "--group simple --all-topics --to-datetime {tomorrow} --dry-run",
    "--group archive --all-topics --by-duration PT40M --dry-run",
    "--group archive --all-topics --by-duration P1DT1H1M1.5S --dry-run",
    "--group archive --all-topics --by-duration PT1S --dry-run",
    "--group archive --from-file {folder}/plan.csv --dry-run",
    "--group archive --from-file {folder}/plan-of-groups.csv --dry-run",
    "--group archive --group simple --from-file {folder}/plan-of-groups.csv --dry-run",
    "--group simple --from-file {folder}/plan-of-archive.csv --dry-run",
    "--group nobody --topic orders:0 --to-latest --dry-run",
    "--group nobody --all-topics --to-latest --dry-run",
    "--group simple --group archive --all-topics --to-latest --dry-run",
    "--group simple --group static --all-topics --to-latest --dry-run",
    "--group modern-and-idle --topic orders --to-earliest --dry-run",
    "--group billing-with-a-long-name --topic orders --to-earliest --dry-run",
    "--group modern-with-a-long-name --topic orders --to-earliest --dry-run",
    "--group rebalancing --topic orders --to-earliest --dry-run",
    "--group simple --topic orders:4 --shift-by 1 --dry-run",
    "--group below-0 --all-topics --shift-by 1 --dry-run",
    "--group below-0 --topic orders:0 --to-current --dry-run",
    "--group below-0 --all-topics --to-earliest --dry-run",
    "--group simple --topic orders:0,9 --to-earliest --dry-run",
    "--group simple --topic nowhere --to-earliest --dry-run",
    "--group simple --topic nowhere:0 --to-earliest --dry-run",
    "--group simple --all-topics --to-current --export --dry-run",
    "--group archive --all-topics --to-latest --export --dry-run",
    "--group simple --group archive --group 'odd, \"name\"' --all-topics --to-current --export --dry-run",
    "--group static --all-topics --to-current --export --dry-run",
)
"""Of --reset-offsets."""

EXECUTIONS: Final = (
    "--group simple --topic orders --to-earliest --execute",
    "--group simple --all-topics --to-latest --execute",
    "--group simple --all-topics --to-offset 1 --execute",
    "--group archive --all-topics --shift-by -2 --execute",
    "--group archive --all-topics --to-datetime {since} --execute",
    "--group archive --from-file {folder}/plan.csv --execute",
    "--group simple --all-topics --to-current --execute",
    "--group simple --group archive --all-topics --to-earliest --execute",
    "--group simple --all-topics --to-latest --export --execute",
    "--group static --topic orders --to-earliest --execute",
    "--group below-0 --all-topics --to-latest --execute",
)

DELETIONS: Final = (
    "--delete --group static --group simple",
    "--delete --group simple",
    "--delete --group unknown",
    "--delete --group modern-with-a-long-name",
    "--delete --group rebalancing",
    f"--delete-offsets --group simple --topic orders:0,2 --topic {REFUNDS}",
    f"--delete-offsets --group static --topic orders --topic {REFUNDS}:0",
    "--delete-offsets --group static --topic orders:,",
    "--delete-offsets --group static --topic orders:-1",
    "--delete-offsets --group unknown --topic orders:0,1",
    "--delete-offsets --group simple --topic orders:0,9 --topic nowhere",
    "--delete-offsets --group modern-with-a-long-name --topic orders:0",
)

PATTERNS: Final = (
    "orders.*",
    "(a|b)+[0-9]{2,3}",
    "[a-",
    "a**",
    "(a",
    "a)",
    "x{1001}",
    "(?<n>a)(?<n>b)",
    "\\",
    "a(?=b)",
)
"""Of --validate-regex."""

UNREADABLE: Final = {
    "--by-duration 1h": "Text cannot be parsed to a Duration",
    "--by-duration P1DT": "Text cannot be parsed to a Duration",
    "--to-datetime yesterday": "It does not contain a 'T' according to ISO8601 format",
    "--to-datetime 2024-13-01T00:00:00.000": 'Unparseable date: "2024-13-01T00:00:00.000',
    "--to-offset x": "'x'",
    "--to-offset 1_0": "'1_0'",
    "--to-offset 9223372036854775808": "9223372036854775808",
    "--shift-by 1.5": "'1.5'",
    "--shift-by -9223372036854775809": "-9223372036854775809",
    "--from-file {folder}/underscore.csv": "1_0",
    "--from-file {folder}/nothing.csv": "nothing.csv",
    "--from-file {folder}/log4j2.properties": "",
    "--nonsense": "nonsense",
}
"""Of --reset-offsets: values that cannot be read, and what both say of them."""

WRONG_USES: Final = (
    "",
    "--list --describe --group g",
    "--describe",
    "--describe --group g --members --state",
    "--describe --group g --state stable",
    "--describe --group g --topic t",
    "--describe --group g --all-groups",
    "--describe --group g --type",
    "--list --group g",
    "--list --members",
    "--list --state nonsense",
    "--delete",
    "--delete --group g --topic t",
    "--delete-offsets --group g",
    "--delete-offsets --group g --group h --topic t",
    "--delete-offsets --group g --topic t:x",
    "--reset-offsets --group simple --dry-run",
    "--reset-offsets --group simple --to-latest --dry-run",
    "--reset-offsets --group simple --all-topics --dry-run",
    "--reset-offsets --dry-run --to-latest --all-topics",
    "--reset-offsets --group simple --dry-run --execute --to-latest --all-topics",
    "--reset-offsets --group simple --dry-run --all-topics --to-latest --to-offset 1",
    "--reset-offsets --group simple --dry-run --all-topics --shift-by 1 --from-file {folder}/plan.csv",
    "--reset-offsets --group simple --all-groups --dry-run --all-topics --to-latest",
    "--reset-offsets --group simple --topic orders:x --dry-run --to-latest",
    "--reset-offsets --group simple --topic orders: --dry-run --to-latest",
    "--reset-offsets --group simple --topic orders:,0 --dry-run --to-latest",
    "--reset-offsets --group simple --topic orders:0:1 --dry-run --to-latest",
)
