import { Alert, Button, List, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/List.css";
import type { Flow, FlowRun, FlowRunRow, FlowStepResult } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { CircleStop, TriangleAlert } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { durationText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { IdText } from "../../parts/code.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { SessionLink } from "../../parts/links/session-link.tsx";
import { Age, Moment } from "../../parts/moment.tsx";
import { DivergencePicture } from "./divergence-picture.tsx";
import { stepText } from "./step-text.ts";

const runningMs = 2000;

export function FlowRunPage() {
  const { id, run: runId } = useParams({ from: "/flows/$id/runs/$run" });
  const { shoal } = useSignedIn();
  const query = useQuery({
    queryKey: ["flow-run", runId],
    queryFn: async ({ signal }) => {
      const run = await shoal.flows.runs.get(id, runId, {}, { signal });
      return { run, flow: await shoal.flows.get(id, { version: run.flow_version }, { signal }) };
    },
    refetchInterval: ({ state }) => (state.data?.run.status === "running" ? runningMs : false),
  });
  return (
    <DetailPage
      kind="Run"
      above={{ label: "Flow", to: "/flows/$id", params: { id } }}
      query={query}
      head={({ flow, run }) => ({
        title: `Run of ${flow.name}`,
        description: <RunStatus status={run.status} />,
        actions: <CancelButton run={run} />,
      })}
    >
      {({ flow, run }) => (
        <>
          <RunDetails run={run} />
          {run.rows.map((row) => (
            <Row key={row.index} run={run} row={row} steps={flow.steps} isAlone={run.rows.length === 1} />
          ))}
        </>
      )}
    </DetailPage>
  );
}

function CancelButton({ run: { flow_id, id, status } }: { readonly run: FlowRun }) {
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const cancel = useAction({ act: () => shoal.flows.runs.cancel(flow_id, id), changes: [["flow-run", id]] });
  if (status !== "running" || !canOperate) return null;
  return (
    <Button
      variant="default"
      leftSection={<CircleStop size={16} aria-hidden />}
      loading={cancel.isPending}
      onClick={() => {
        cancel.mutate();
      }}
    >
      Cancel
    </Button>
  );
}

function RunDetails({ run }: { readonly run: FlowRun }) {
  const { created_at, finished_at, flow_version, id } = run;
  return (
    <Section title="Details">
      <Details
        rows={[
          ["Id", <IdText key="id" id={id} />],
          ["Version of the flow", String(flow_version)],
          ["Started", <Moment key="started" at={created_at} />],
          ["Ended", finished_at && <Moment key="ended" at={finished_at} />],
          ["Duration", <Age key="age" from={created_at} to={finished_at ?? undefined} />],
        ]}
      />
    </Section>
  );
}

interface RowProps {
  readonly run: FlowRun;
  readonly row: FlowRunRow;
  readonly steps: Flow["steps"];
  readonly isAlone: boolean;
}

function Row({ run, row: { error, index, session_id: session, status, steps: results }, steps, isAlone }: RowProps) {
  return (
    <Section title={isAlone ? "Steps" : `Row ${String(index + 1)}`} actions={<RunStatus status={status} />}>
      <Stack gap="sm">
        {session !== null && (
          <Text size="sm">
            Session <SessionLink id={session} />
          </Text>
        )}
        {error !== null && (
          <Alert color="red" icon={<TriangleAlert aria-hidden />} title="The row failed">
            {error}
          </Alert>
        )}
        <List type="ordered" spacing="xs" size="sm">
          {results.map((result) => (
            <List.Item key={result.step} style={{ overflowWrap: "anywhere" }}>
              <StepResult result={result} step={steps[result.step]} />
              {result.divergence?.has_picture === true && (
                <DivergencePicture flowId={run.flow_id} runId={run.id} row={index} step={result.step} />
              )}
            </List.Item>
          ))}
        </List>
      </Stack>
    </Section>
  );
}

const results: Readonly<Record<string, string>> = {
  started: "running, or it may have acted",
  done: "done",
  diverged: "the page differed",
  by_person: "done by a person",
};

function StepResult({
  result: { divergence, duration_ms, status },
  step,
}: {
  readonly result: FlowStepResult;
  readonly step: Flow["steps"][number] | undefined;
}) {
  return (
    <>
      {step === undefined ? "Open the first page" : stepText(step)}
      <Text span size="xs" c="dimmed">
        {" "}
        {results[status] ?? status}
        {status !== "started" && `, ${durationText(duration_ms)}`}
      </Text>
      {divergence !== undefined && (
        <Alert color="orange" icon={<TriangleAlert aria-hidden />} title={`Expected: ${divergence.expected}`} mt={4}>
          <Text size="sm">Seen: {divergence.seen}</Text>
          {divergence.candidates.length > 0 && (
            <Text size="sm">Elements that could be meant: {divergence.candidates.join(", ")}</Text>
          )}
          {divergence.url !== "" && (
            <Text size="xs">
              {divergence.title} {divergence.url}
            </Text>
          )}
        </Alert>
      )}
    </>
  );
}
