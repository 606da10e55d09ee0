import { Anchor, Button, Group } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Flow, FlowRunSummary } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { FileDown, History, Play } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { IdText } from "../../parts/code.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { Age, Ago, Moment } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { useList } from "../../parts/table/use-list.ts";
import { ExportDialog } from "./export-dialog.tsx";
import { RunDialog } from "./run-dialog.tsx";
import { StepsSection } from "./steps-section.tsx";

const refreshMs = 5000;

export function FlowPage() {
  const { id } = useParams({ from: "/flows/$id" });
  const { shoal } = useSignedIn();
  const query = useQuery({
    queryKey: ["flow", id],
    queryFn: async ({ signal }) => shoal.flows.get(id, {}, { signal }),
  });
  return (
    <DetailPage
      kind="Flow"
      above={{ label: "Flows", to: "/flows" }}
      query={query}
      head={(flow) => ({
        title: flow.name,
        description: `Version ${String(flow.version)}`,
        actions: <FlowActions flow={flow} />,
      })}
    >
      {(flow) => (
        <>
          <FlowDetails flow={flow} />
          <StepsSection flow={flow} />
          <Runs flow={flow} />
        </>
      )}
    </DetailPage>
  );
}

function FlowActions({ flow }: { readonly flow: Flow }) {
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const navigate = useNavigate();
  const [isRunning, running] = useDisclosure();
  const [isExporting, exporting] = useDisclosure();
  const deletion = useDeletion({
    kind: "flow",
    name: flow.name,
    text: "Its versions, runs and schedules are deleted too.",
    act: () => shoal.flows.delete(flow.id),
    done: () => navigate({ to: "/flows" }),
    changes: [["flows"]],
  });
  return (
    <Group gap="xs">
      {canOperate && (
        <Button leftSection={<Play size={16} aria-hidden />} onClick={running.open}>
          Run
        </Button>
      )}
      <Button variant="default" leftSection={<FileDown size={16} aria-hidden />} onClick={exporting.open}>
        Export
      </Button>
      {canOperate && <RowMenu label={`Actions for the flow ${flow.name}`} actions={[deletion]} />}
      <RunDialog flow={flow} isOpen={isRunning} close={running.close} />
      <ExportDialog flow={flow} isOpen={isExporting} close={exporting.close} />
    </Group>
  );
}

function FlowDetails({ flow }: { readonly flow: Flow }) {
  const { created_at, id, parameters, start_url, updated_at } = flow;
  return (
    <Section title="Details">
      <Details
        rows={[
          ["Id", <IdText key="id" id={id} />],
          ["Start", start_url],
          ...parameters.map(
            ({ default: usual, name, secret }) =>
              [
                `Parameter ${name}`,
                secret
                  ? "A value of a stored credential"
                  : usual === undefined
                    ? "A text"
                    : `A text; default: ${usual}`,
              ] as const,
          ),
          ["Created", <Moment key="created" at={created_at} />],
          ["Changed", <Moment key="changed" at={updated_at} />],
        ]}
      />
    </Section>
  );
}

const columns: readonly Column<FlowRunSummary>[] = [
  { name: "Run", cell: (run) => <RunLink run={run} />, share: 1.2 },
  { name: "Result", cell: ({ status }) => <RunStatus status={status} /> },
  { name: "Rows", cell: ({ row_count }) => row_count, share: 0.5 },
  { name: "Version", cell: ({ flow_version }) => flow_version, share: 0.6 },
  { name: "Duration", cell: ({ created_at, finished_at }) => <Age from={created_at} to={finished_at ?? undefined} /> },
];

function RunLink({ run: { created_at, flow_id: id, id: run } }: { readonly run: FlowRunSummary }) {
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/flows/$id/runs/$run" params={{ id, run }} {...props} />}>
      <Ago at={created_at} />
    </Anchor>
  );
}

function Runs({ flow: { id } }: { readonly flow: Flow }) {
  const { shoal } = useSignedIn();
  const list = useList(["flow-runs", id], (page, options) => shoal.flows.runs.list(id, page, options), refreshMs);
  return (
    <Section title="Runs" isPlain>
      <ResourceTable
        label="Runs"
        list={list}
        idOf={(run) => run.id}
        columns={columns}
        empty={
          <Empty icon={History} title="No runs">
            Each run repeats the steps in new browsers, or in a session of yours.
          </Empty>
        }
      />
    </Section>
  );
}
