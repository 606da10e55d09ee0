import { Code, Group, Stack, Table, Text, Title } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import { durationText, momentText } from "../../../base/texts.ts";
import { CopyIcon } from "../../../parts/code.tsx";
import { curlOf } from "./curl.ts";
import { type Headers, type NetworkRequest, outcomeOf } from "../telemetry/requests.ts";
import type { Bar } from "./waterfall.ts";

const wrapped = { overflowWrap: "anywhere" } as const;
const maxFormattedLength = 100_000;

export function RequestDetails({ request, bar }: { readonly request: NetworkRequest; readonly bar: Bar | undefined }) {
  const { isCut, method, url, postData, body } = request;
  return (
    <Stack gap="md">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Text size="sm" style={{ ...wrapped, flex: 1 }}>
          <b>{method}</b> {url}
        </Text>
        <CopyIcon value={curlOf(request)} label="Copy as curl" />
      </Group>
      {isCut && (
        <Text size="sm" c="dimmed">
          Telemetry cut this request for its size.
        </Text>
      )}
      <Pairs title="General" pairs={generalOf(request, bar)} />
      <Pairs title="Query" pairs={queryOf(url)} />
      <Pairs title="Headers of the request" pairs={request.requestHeaders} />
      <Body title="Body of the request" text={postData} />
      <Pairs title="Headers of the answer" pairs={request.responseHeaders} />
      <Body title="Body of the answer" text={body} />
      {body === undefined && request.durationMs !== undefined && (
        <Text size="sm" c="dimmed">
          Telemetry has bodies of text answers only, at most 8 kB.
        </Text>
      )}
    </Stack>
  );
}

function generalOf(request: NetworkRequest, bar: Bar | undefined): Headers {
  const { durationMs, failure, initiator, mimeType, redirectedTo, startedMs, statusText, type } = request;
  const pairs: (readonly [string, string | undefined])[] = [
    ["Status", [outcomeOf(request), statusText].filter((part) => part !== undefined && part !== "").join(" ")],
    ["Failure", failure],
    ["Redirected to", redirectedTo],
    ["Type", [type, mimeType].filter((part) => part !== undefined && part !== "").join(", ")],
    ["Caused by", initiator],
    ["Started", momentText(startedMs)],
    ["After the document", bar && durationText(bar.afterMs)],
    ["Duration", durationMs === undefined ? "in progress" : `${durationText(durationMs)}, to the end of the answer`],
  ];
  return pairs.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [[name, value] as const]));
}

function queryOf(url: string): Headers {
  return URL.canParse(url) && !url.startsWith("data:") ? [...new URL(url).searchParams] : [];
}

function Pairs({ title, pairs }: { readonly title: string; readonly pairs: Headers }) {
  if (pairs.length === 0) return null;
  return (
    <div>
      <Title order={3} size="h6">
        {title}
      </Title>
      <Table layout="fixed" fz="xs">
        <Table.Tbody>
          {pairs.map(([name, value], index) => (
            <Table.Tr key={`${name} ${index}`}>
              <Table.Th w="35%" style={wrapped}>
                {name}
              </Table.Th>
              <Table.Td style={wrapped}>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

/** JSON with line breaks; other texts as they are. */
function formatted(text: string): string {
  if (text.length > maxFormattedLength || !/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function Body({ title, text }: { readonly title: string; readonly text: string | undefined }) {
  if (text === undefined || text === "") return null;
  return (
    <div>
      <Group justify="space-between">
        <Title order={3} size="h6">
          {title}
        </Title>
        <CopyIcon value={text} label={`Copy the ${title.toLowerCase()}`} />
      </Group>
      <Code block style={{ whiteSpace: "pre-wrap", ...wrapped }}>
        {formatted(text)}
      </Code>
    </div>
  );
}
