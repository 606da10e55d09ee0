import { Alert, Text } from "@mantine/core";
import type { Invocation } from "@shoal/schemas";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useCallback } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { prettyJson } from "../../base/pretty-json.ts";
import { RoleOnly } from "../../parts/access/role-only.tsx";
import { CodeBlock, IdText } from "../../parts/code.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { LogLines } from "../../parts/log/log-lines.tsx";
import { type FollowStream, useFollow } from "../../parts/log/use-follow.ts";
import { Age, Moment } from "../../parts/moment.tsx";
import { isRunning } from "./is-running.ts";
import { InvocationActions } from "./invocation-actions.tsx";
import { InvocationBrowsers } from "./invocation-browsers.tsx";

const runningMs = 2000;

export function InvocationPage() {
  const { id } = useParams({ from: "/invocations/$id" });
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const query = useQuery({
    queryKey: ["invocation", id],
    queryFn: async ({ signal }) => shoal.invocations.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data === undefined || isRunning(state.data) ? runningMs : false),
  });
  return (
    <DetailPage
      kind="Invocation"
      above={{ label: "Invocations", to: "/invocations" }}
      query={query}
      head={(invocation) => ({
        title: `${invocation.app_name} / ${invocation.action_name}`,
        description: <RunStatus status={invocation.status} />,
        actions: <InvocationActions invocation={invocation} />,
      })}
    >
      {(invocation) => (
        <>
          {invocation.status === "failed" && (
            <Alert color="red" icon={<TriangleAlert aria-hidden />} title="The invocation failed">
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                {invocation.status_reason ?? "Its output shows more."}
              </Text>
            </Alert>
          )}
          <InvocationDetails invocation={invocation} />
          {canOperate ? (
            <InvocationContent invocation={invocation} />
          ) : (
            <RoleOnly role="operator" what="The payload, the output and the log of an invocation" />
          )}
          <InvocationBrowsers invocation={invocation} />
        </>
      )}
    </DetailPage>
  );
}

function InvocationContent({ invocation }: { readonly invocation: Invocation }) {
  const { id, output, payload } = invocation;
  return (
    <>
      <JsonText title="Payload" text={payload} none="It has no payload." />
      <JsonText
        title="Output"
        text={output}
        none={isRunning(invocation) ? "It appears at the end." : "It returned nothing."}
      />
      <InvocationLog key={id} id={id} />
    </>
  );
}

const maxShown = 200_000;

function JsonText({
  title,
  text,
  none,
}: {
  readonly title: string;
  readonly text: string | undefined;
  readonly none: string;
}) {
  const isEmpty = text === undefined || text === "";
  return (
    <Section title={title} isPlain>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          {none}
        </Text>
      ) : (
        <CodeBlock
          code={text.length > maxShown ? `${text.slice(0, maxShown)}\n…` : prettyJson(text)}
          label={`${title} of the invocation`}
        />
      )}
    </Section>
  );
}

function InvocationDetails({ invocation }: { readonly invocation: Invocation }) {
  const { id, attempts, finished_at, queue_position, started_at, status_reason, version } = invocation;
  return (
    <Section title="Details">
      <Details
        rows={[
          ["Id", <IdText key="id" id={id} />],
          ["Version", version],
          ["Reason", invocation.status !== "failed" && status_reason],
          ["Place in the queue", queue_position],
          ["Started", <Moment key="started" at={started_at} />],
          ["Ended", finished_at && <Moment key="ended" at={finished_at} />],
          ["Duration", <Age key="age" from={started_at} to={finished_at ?? undefined} />],
          ...(attempts ?? []).map(
            ({ failed_at, status_reason: reason }, index) =>
              [`Failed run ${index + 1}`, <FailedRun key={index} at={failed_at} reason={reason} />] as const,
          ),
        ]}
      />
    </Section>
  );
}

function FailedRun({ at, reason }: { readonly at: string; readonly reason: string }) {
  return (
    <>
      <Moment at={at} />: {reason}
    </>
  );
}

function InvocationLog({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const open = useCallback((options: FollowStream) => shoal.invocations.follow(id, {}, options), [shoal, id]);
  const changed = useCallback(
    ({ event }: { readonly event: string }) => {
      if (event === "invocation_state") void queries.invalidateQueries({ queryKey: ["invocation", id] });
    },
    [queries, id],
  );
  const log = useFollow(open, changed);
  return (
    <Section title="Log" isPlain>
      <LogLines label="Log of the invocation" {...log} />
    </Section>
  );
}
