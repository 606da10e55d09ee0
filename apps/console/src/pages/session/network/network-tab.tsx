import { Button, Drawer, Group, NativeSelect } from "@mantine/core";
import "@mantine/core/styles/Drawer.css";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import { saveBlob } from "../../../base/save.ts";
import { clockText, durationText } from "../../../base/texts.ts";
import { useNow } from "../../../parts/now.ts";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import { FindField } from "../telemetry/find-field.tsx";
import { ShownCount } from "../telemetry/shown-count.tsx";
import { TelemetryFrame } from "../telemetry/telemetry-frame.tsx";
import { matching, type Outcome, outcomes, type RequestFilters, typeOf } from "./filter-requests.ts";
import { harOf } from "./har.ts";
import styles from "./network.module.css";
import { RequestDetails } from "./request-details.tsx";
import { isFailed, type NetworkRequest, outcomeOf, requestsOf } from "../telemetry/requests.ts";
import { type Bar, barsOf } from "./waterfall.ts";

const lineHeight = 30;

export function NetworkTab({ browser }: { readonly browser: Browser }) {
  return (
    <TelemetryFrame browser={browser} category="network">
      {(_requests, events) => <Requests browser={browser} events={events} />}
    </TelemetryFrame>
  );
}

interface RequestsProps {
  readonly browser: Browser;
  readonly events: readonly TelemetryEnvelope[];
}

function Requests({ browser: { name, session_id: id }, events }: RequestsProps) {
  const { find, outcome, type } = useSearch({ from: "/sessions/$id" });
  const nowMs = useNow();
  const requests = useMemo(() => requestsOf(events), [events]);
  const shown = useMemo(() => matching(requests, { find, outcome, type }), [requests, find, outcome, type]);
  const isRunning = shown.some(({ durationMs }) => durationMs === undefined);
  const bars = useMemo(() => barsOf(shown, isRunning ? nowMs : 0), [shown, isRunning, nowMs]);
  const [openSeq, setOpen] = useState<number>();
  const opened = requests.find(({ seq }) => seq === openSeq);
  return (
    <>
      <Group gap="xs">
        <FindField label="Find by address, method or status" placeholder="Address, method or status" />
        <Filters outcome={outcome} type={type} types={[...new Set(requests.map(typeOf))].sort()} />
        <ShownCount shown={shown.length} all={requests.length} what="requests" />
        <Button
          size="xs"
          variant="default"
          ml="auto"
          leftSection={<Download size={14} aria-hidden />}
          onClick={() => {
            const har = JSON.stringify(harOf(shown, events, id), undefined, 1);
            saveBlob(new Blob([har], { type: "application/json" }), `${name ?? id}.har`);
          }}
        >
          Save as HAR
        </Button>
      </Group>
      <VirtualLines
        lines={shown}
        keyOf={({ seq }) => seq}
        render={(request) => (
          <RequestLine
            request={request}
            bar={bars.get(request.seq)}
            open={() => {
              setOpen(request.seq);
            }}
          />
        )}
        label="Requests of the pages"
        height={lineHeight}
      />
      <Drawer
        opened={opened !== undefined}
        onClose={() => {
          setOpen(undefined);
        }}
        position="right"
        size="lg"
        title="Request"
        closeButtonProps={{ "aria-label": "Close" }}
        attributes={{ header: { role: "presentation" } }}
      >
        {opened !== undefined && <RequestDetails request={opened} bar={bars.get(opened.seq)} />}
      </Drawer>
    </>
  );
}

const outcomeLabels: Readonly<Record<Outcome, string>> = {
  failed: "Failed",
  ok: "Answered",
  redirect: "Redirects",
  running: "In progress",
};

function Filters({ outcome, type = "", types }: FiltersProps) {
  const navigate = useNavigate({ from: "/sessions/$id" });
  const change = (next: RequestFilters) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label="Type"
        value={type}
        data={[{ value: "", label: "All types" }, ...new Set([...types, ...(type === "" ? [] : [type])])]}
        onChange={({ currentTarget: { value } }) => {
          change({ type: value === "" ? undefined : value });
        }}
      />
      <NativeSelect
        size="xs"
        aria-label="Outcome"
        value={outcome ?? ""}
        data={[
          { value: "", label: "All outcomes" },
          ...outcomes.map((value) => ({ value, label: outcomeLabels[value] })),
        ]}
        onChange={({ currentTarget: { value } }) => {
          change({ outcome: outcomes.find((known) => known === value) });
        }}
      />
    </>
  );
}

interface FiltersProps {
  readonly outcome: Outcome | undefined;
  readonly type: string | undefined;
  readonly types: readonly string[];
}

interface LineProps {
  readonly request: NetworkRequest;
  readonly bar: Bar | undefined;
  readonly open: () => void;
}

/** Narrow screens hide the origin: the path tells requests apart. */
function Address({ url }: { readonly url: string }) {
  const origin = /^https?:\/\/[^/?#]+/.exec(url)?.[0] ?? "";
  return (
    <span className={styles.url} title={url}>
      <span className={styles.origin}>{origin}</span>
      {url.slice(origin.length)}
    </span>
  );
}

function RequestLine({ request, bar, open }: LineProps) {
  const { method, url, durationMs, startedMs } = request;
  return (
    <button type="button" className={styles.request} data-failed={isFailed(request) ? "" : undefined} onClick={open}>
      <time className={styles.time}>{clockText(startedMs)}</time>
      <span className={styles.status}>{outcomeOf(request)}</span>
      <span className={styles.method}>{method}</span>
      <Address url={url} />
      <span className={styles.type}>{typeOf(request)}</span>
      <span className={styles.duration}>{durationMs === undefined ? "" : durationText(durationMs)}</span>
      <span className={styles.waterfall} aria-hidden>
        {bar !== undefined && (
          <span className={styles.bar} style={{ left: `${bar.start * 100}%`, width: `${bar.width * 100}%` }} />
        )}
      </span>
    </button>
  );
}
