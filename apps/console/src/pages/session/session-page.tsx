import { Skeleton, Tabs } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ComponentType, Suspense, useEffect, useRef } from "react";
import { browserQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { lazyPart } from "../../parts/lazy-part.ts";
import { RoleOnly } from "../../parts/access/role-only.tsx";
import { IdText } from "../../parts/code.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Age } from "../../parts/moment.tsx";
import { Loading } from "../../parts/states.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { LiveTab } from "./live-tab.tsx";
import { SessionActions } from "./session-actions.tsx";
import { type SessionTab, useShownTabs } from "./tabs.ts";
import styles from "./session-page.module.css";

const tabs: Readonly<Record<SessionTab, { readonly label: string; readonly Part: ComponentType<PartProps> }>> = {
  live: { label: "Live view", Part: LiveTab },
  console: { label: "Console", Part: lazyPart(() => import("./telemetry/console-tab.tsx"), "ConsoleTab") },
  network: { label: "Network", Part: lazyPart(() => import("./network/network-tab.tsx"), "NetworkTab") },
  events: { label: "Events", Part: lazyPart(() => import("./telemetry/events-tab.tsx"), "EventsTab") },
  files: { label: "Files", Part: lazyPart(() => import("./files/files-tab.tsx"), "FilesTab") },
  terminal: {
    label: "Terminal",
    Part: lazyPart(() => import("./terminal/terminal-tab.tsx"), "TerminalTab"),
  },
  processes: {
    label: "Processes",
    Part: lazyPart(() => import("./processes/processes-tab.tsx"), "ProcessesTab"),
  },
  logs: { label: "Logs", Part: lazyPart(() => import("./logs-tab.tsx"), "LogsTab") },
  recordings: {
    label: "Recordings",
    Part: lazyPart(() => import("./recordings-tab.tsx"), "RecordingsTab"),
  },
  details: { label: "Details", Part: lazyPart(() => import("./details-tab.tsx"), "DetailsTab") },
};

interface PartProps {
  readonly browser: Browser;
}

const isTab = (value: string | null): value is SessionTab => value !== null && value in tabs;

export function SessionPage() {
  const { id } = useParams({ from: "/sessions/$id" });
  const { shoal } = useSignedIn();
  const query = useQuery(browserQuery(shoal, id));
  return (
    <DetailPage
      kind="Session"
      above={{ label: "Sessions", to: "/sessions" }}
      query={query}
      loading={<Skeleton height={420} aria-label="Loading the session" />}
      head={(browser) => ({
        title: browser.name ?? id,
        windowTitle: browser.name ?? id,
        description: <Facts browser={browser} />,
        actions: <SessionActions browser={browser} />,
      })}
    >
      {(browser) => <Parts browser={browser} />}
    </DetailPage>
  );
}

function Facts({ browser }: { readonly browser: Browser }) {
  const { session_id: id, created_at, deleted_at } = browser;
  const { tab = "live" } = useSearch({ from: "/sessions/$id" });
  return (
    <span className={styles.facts}>
      {/* The live view of this page uses the session, some seconds before the next answer says so. */}
      <StatusBadge browser={tab === "live" ? { ...browser, expires_at: undefined } : browser} />
      <IdText id={id} label="Copy the session's id" />
      <span>
        {deleted_at === undefined ? "Running for " : "Ran for "}
        <Age from={created_at} to={deleted_at} />
      </span>
    </span>
  );
}

function Parts({ browser }: { readonly browser: Browser }) {
  const { tab = "live" } = useSearch({ from: "/sessions/$id" });
  const navigate = useNavigate({ from: "/sessions/$id" });
  const { label, Part } = tabs[tab];
  const shown = useShownTabs();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On phones, the list is wider than the screen.
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [tab]);
  return (
    <Tabs
      value={tab}
      onChange={(value) => {
        if (isTab(value))
          void navigate({ search: (before) => ({ ...before, tab: value === "live" ? undefined : value }) });
      }}
      keepMounted={false}
    >
      <Tabs.List ref={list} className={styles.tabs} aria-label="Parts of the session">
        {shown.map((value) => (
          <Tabs.Tab key={value} value={value}>
            {tabs[value].label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={tab} pt="md">
        <Suspense fallback={<Loading />}>
          {shown.includes(tab) ? <Part browser={browser} /> : <RoleOnly role="operator" what={`The tab ${label}`} />}
        </Suspense>
      </Tabs.Panel>
    </Tabs>
  );
}
