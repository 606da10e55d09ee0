import { Anchor, Breadcrumbs, Skeleton, Stack, Tabs } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Suspense } from "react";
import { browserQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { CopyIcon } from "../../parts/code.tsx";
import { Age } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { DetailsTab } from "./details-tab.tsx";
import { LiveTab } from "./live-tab.tsx";
import { SessionActions } from "./session-actions.tsx";
import type { SessionTab } from "./tabs.ts";
import styles from "./session-page.module.css";

const tabs: readonly { readonly value: SessionTab; readonly label: string }[] = [
  { value: "live", label: "Live view" },
  { value: "details", label: "Details" },
];

export function SessionPage() {
  const { id } = useParams({ from: "/sessions/$id" });
  const { shoal } = useSignedIn();
  const { data: browser, error, refetch } = useQuery(browserQuery(shoal, id));
  return (
    <Stack gap="sm">
      <Breadcrumbs>
        <Anchor size="sm" renderRoot={(props) => <Link to="/sessions" {...props} />}>
          Sessions
        </Anchor>
        <span aria-current="page">{browser?.name ?? id}</span>
      </Breadcrumbs>
      {browser !== undefined ? (
        <Loaded browser={browser} />
      ) : error !== null ? (
        <Page title="Session">
          <Failure error={error} retry={() => void refetch()} />
        </Page>
      ) : (
        <Page title={id}>
          <Skeleton height={420} />
        </Page>
      )}
    </Stack>
  );
}

function Loaded({ browser }: { readonly browser: Browser }) {
  const { session_id: id, name } = browser;
  const { tab = "live" } = useSearch({ from: "/sessions/$id" });
  const navigate = useNavigate({ from: "/sessions/$id" });
  return (
    <Page
      title={name ?? id}
      description={
        <span className={styles.facts}>
          <StatusBadge browser={browser} />
          <span className={styles.id}>
            {id}
            <CopyIcon value={id} label="Copy the session's id" />
          </span>
          <span>
            {browser.deleted_at === undefined ? "Running for " : "Ran for "}
            <Age from={browser.created_at} to={browser.deleted_at} />
          </span>
        </span>
      }
      actions={<SessionActions browser={browser} />}
    >
      <Tabs
        value={tab}
        onChange={(value) => {
          const next = tabs.find((known) => known.value === value)?.value;
          if (next !== undefined)
            void navigate({ search: (before) => ({ ...before, tab: next === "live" ? undefined : next }) });
        }}
        keepMounted={false}
      >
        <Tabs.List className={styles.tabs} aria-label="Parts of the session">
          {tabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Suspense fallback={<Loading />}>
          <Tabs.Panel value="live" pt="md">
            <LiveTab browser={browser} />
          </Tabs.Panel>
          <Tabs.Panel value="details" pt="md">
            <DetailsTab browser={browser} />
          </Tabs.Panel>
        </Suspense>
      </Tabs>
    </Page>
  );
}
