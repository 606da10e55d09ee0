import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ArchiveRestore, ScrollText } from "lucide-react";
import { useMemo, useState } from "react";
import { useIsAdmin } from "../../api/shoal.ts";
import { AdminOnly } from "../../parts/access/admin-only.tsx";
import { Page } from "../../parts/page.tsx";
import { AuditEntries } from "./audit-entries.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { DestinationsTab } from "./destinations-tab.tsx";
import { ExportButton } from "./export-button.tsx";
import { queryOf } from "./filters.ts";
import { VerifyCard } from "./verify-card.tsx";

export function AuditPage() {
  const { tab = "entries" } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const isAdmin = useIsAdmin();
  return (
    <Page title="Audit log" description="Requests that changed something or used a secret, rejected requests included.">
      {!isAdmin ? (
        <AdminOnly what="The audit log" />
      ) : (
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
      )}
    </Page>
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
