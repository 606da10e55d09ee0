import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArchiveRestore, ScrollText } from "lucide-react";
import { useMemo, useState } from "react";
import { useIsAdmin } from "../../api/shoal.ts";
import type { Programs } from "../../base/programs.ts";
import { ListPage } from "../../parts/table/list-page.tsx";
import { AuditEntries } from "./audit-entries.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { DestinationsTab } from "./destinations-tab.tsx";
import { ExportButton } from "./export-button.tsx";
import { queryOf } from "./filters.ts";
import { VerifyCard } from "./verify-card.tsx";

const day = { start: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };

const entriesPrograms: Programs = {
  sdk: `const entries = await shoal.auditLogs.list({
  start: "${day.start}",
  end: "${day.end}",
});
const { valid } = await shoal.auditLogs.verify();`,
  cli: `audit-logs search --start ${day.start} --end ${day.end}\nshoal audit-logs verify`,
  curl: { path: `/audit-logs?start=${day.start}&end=${day.end}` },
};

const destination = {
  type: "s3",
  format: "jsonl.gz",
  bucket: "company-audit",
  prefix: "audit/",
  region: "eu-central-1",
  role_arn: "arn:aws:iam::123456789012:role/audit",
} as const;

const destinationsPrograms: Programs = {
  sdk: `await shoal.auditLogs.exportDestinations.create(${JSON.stringify(destination, undefined, 2)});`,
  cli: `audit-logs export create --type s3 --format jsonl.gz --bucket ${destination.bucket} --prefix ${destination.prefix} --region ${destination.region} --role-arn ${destination.role_arn}`,
  curl: { method: "POST", path: "/audit-logs/export/destinations", body: destination },
};

export function AuditPage() {
  const { tab = "entries" } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const isAdmin = useIsAdmin();
  return (
    <ListPage
      title="Audit log"
      description="Requests that changed something or used a secret, rejected requests included."
      locked={!isAdmin && "The audit log"}
      programs={tab === "entries" ? entriesPrograms : destinationsPrograms}
    >
      <Tabs
        value={tab}
        onChange={(value) =>
          void navigate({ search: value === "destinations" ? { tab: "destinations" } : {}, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="entries" leftSection={<ScrollText size={16} aria-hidden />}>
            Entries
          </Tabs.Tab>
          <Tabs.Tab value="destinations" leftSection={<ArchiveRestore size={16} aria-hidden />}>
            Export destinations
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="entries">
          <EntriesTab />
        </Tabs.Panel>
        <Tabs.Panel value="destinations">
          <DestinationsTab />
        </Tabs.Panel>
      </Tabs>
    </ListPage>
  );
}

function EntriesTab() {
  const search = useSearch({ from: "/audit" });
  const [nowMs, setNowMs] = useState(() => Date.now());
  const { period, until, method, strategy, service, search: text } = search;
  const query = useMemo(
    () => queryOf({ period, until, method, strategy, service, search: text }, nowMs),
    [period, until, method, strategy, service, text, nowMs],
  );
  return (
    <>
      <VerifyCard />
      <AuditFilters
        refresh={() => {
          setNowMs(Date.now());
        }}
      >
        <ExportButton query={query} />
      </AuditFilters>
      <AuditEntries query={query} />
    </>
  );
}
