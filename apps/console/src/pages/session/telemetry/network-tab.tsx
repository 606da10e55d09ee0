import { Code, Drawer, Stack, Table, Text, Title } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import "@mantine/core/styles/Drawer.css";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useMemo, useState } from "react";
import { clockText } from "../../../base/texts.ts";
import { VirtualLines } from "../../../parts/virtual-lines.tsx";
import styles from "./lines.module.css";
import { firstErrorStatus, type NetworkRequest, requestsOf } from "./requests.ts";
import { TelemetryFrame } from "./telemetry-frame.tsx";

const lineHeight = 30;

export function NetworkTab({ browser }: { readonly browser: Browser }) {
  return (
    <TelemetryFrame browser={browser} category="network">
      {(events) => <Requests events={events} />}
    </TelemetryFrame>
  );
}

function Requests({ events }: { readonly events: readonly TelemetryEnvelope[] }) {
  const requests = useMemo(() => requestsOf(events), [events]);
  const [openSeq, setOpen] = useState<number>();
  const opened = requests.find(({ seq }) => seq === openSeq);
  return (
    <>
      <VirtualLines
        lines={requests}
        keyOf={({ seq }) => seq}
        render={(request) => (
          <RequestLine
            request={request}
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
        {opened !== undefined && <RequestDetails request={opened} />}
      </Drawer>
    </>
  );
}

function outcomeOf({ status, failure }: NetworkRequest): string {
  return failure === undefined ? (status === undefined ? "…" : String(status)) : "failed";
}

function RequestLine({ request, open }: { readonly request: NetworkRequest; readonly open: () => void }) {
  const { method, url, durationMs, startedMs, failure, status = 0 } = request;
  const isBad = failure !== undefined || status >= firstErrorStatus;
  return (
    <button type="button" className={`${styles.line} ${styles.request} ${isBad ? styles.bad : ""}`} onClick={open}>
      <time className={styles.time}>{clockText(startedMs)}</time>
      <span className={styles.status}>{outcomeOf(request)}</span>
      <span className={styles.method}>{method}</span>
      <span className={styles.url}>{url}</span>
      <span className={styles.duration}>{durationMs === undefined ? "" : `${Math.round(durationMs)} ms`}</span>
    </button>
  );
}

function RequestDetails({ request }: { readonly request: NetworkRequest }) {
  const { method, url, type, failure, requestHeaders, responseHeaders, postData, body } = request;
  return (
    <Stack gap="md">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        <b>{method}</b> {url}
      </Text>
      <Text size="sm" c="dimmed">
        {[outcomeOf(request), failure, type].filter((text) => text !== undefined && text !== "").join(", ")}
      </Text>
      <Headers title="Headers of the request" headers={requestHeaders} />
      <Body title="Body of the request" text={postData} />
      <Headers title="Headers of the answer" headers={responseHeaders} />
      <Body title="Body of the answer" text={body} />
    </Stack>
  );
}

function Headers({ title, headers }: { readonly title: string; readonly headers: unknown }) {
  if (typeof headers !== "object" || headers === null || Object.keys(headers).length === 0) return null;
  return (
    <div>
      <Title order={3} size="h6">
        {title}
      </Title>
      <Table layout="fixed" fz="xs">
        <Table.Tbody>
          {Object.entries(headers).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w="35%" style={{ overflowWrap: "anywhere" }}>
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: "anywhere" }}>{String(value)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function Body({ title, text }: { readonly title: string; readonly text: string | undefined }) {
  if (text === undefined || text === "") return null;
  return (
    <div>
      <Title order={3} size="h6">
        {title}
      </Title>
      <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>
        {text}
      </Code>
    </div>
  );
}
