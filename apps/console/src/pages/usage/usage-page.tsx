import { Button, Card, Group, NativeSelect, SegmentedControl, SimpleGrid, Text, TextInput } from "@mantine/core";
import "@mantine/core/styles/SimpleGrid.css";
import type { UsageRow } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChartColumn, Download } from "lucide-react";
import { useState } from "react";
import { saveAnswer } from "../../api/save-answer.ts";
import { useOrganization, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { dayText, isMetric, lastDays, type Metric, metrics, type Period, totalOf } from "./days.ts";
import { amountText, shortDay } from "./texts.ts";
import { UsageChart } from "./usage-chart.tsx";

const ranges = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "custom", label: "Custom" },
];
const metricOptions = Object.entries(metrics).map(([value, { label }]) => ({ value, label }));
const mostRows = 20_000;

type Group = "project" | "api_key";

/** What the address selects. */
function useSelection() {
  const { from, to, days = 7, group = "project", metric = "minutes", scope } = useSearch({ from: "/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const [openedAtMs] = useState(() => Date.now());
  const today = dayText(openedAtMs);
  const isCustom = from !== undefined || to !== undefined;
  const standard = lastDays(days, Date.parse(today));
  const period: Period = isCustom ? { from: from ?? standard.from, to: to ?? today } : standard;
  const change = (next: object) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  return { period, range: isCustom ? "custom" : String(days), group, metric, isForAll: scope === "all", change };
}

export function UsagePage() {
  const { shoal: ofProject, project } = useSignedIn();
  const organization = useOrganization();
  const selection = useSelection();
  const { period, group, isForAll } = selection;
  const shoal = isForAll ? organization.shoal : ofProject;
  const filter = { ...period, group_by: group };
  const usage = useQuery({
    queryKey: ["usage", isForAll ? "all" : project?.id, filter],
    queryFn: async ({ signal }) => {
      const rows: UsageRow[] = [];
      for await (const row of await shoal.usage.list({ ...filter, limit: 100 }, { signal }))
        if (rows.push(row) >= mostRows) break;
      return rows;
    },
  });
  const rows = usage.data ?? [];
  return (
    <Page
      title="Usage"
      description="Sessions, network and storage by day. Days are in UTC, and figures lag behind by up to a minute."
      actions={
        <ExportButtons
          save={(format, name) =>
            saveAnswer({
              project: isForAll ? organization.project : project?.id,
              path: "/usage/export",
              query: { ...filter, format },
              name,
            })
          }
          period={period}
        />
      }
    >
      <Filters selection={selection} hasRole={organization.hasRole} />
      {rows.length > 0 && (
        <>
          <Totals rows={rows} />
          <Chart rows={rows} selection={selection} />
        </>
      )}
      <ResourceTable
        label="Usage by day"
        list={{
          items: usage.data,
          error: usage.error,
          hasMore: false,
          isReadingMore: false,
          readMore: () => undefined,
          refetch: () => void usage.refetch(),
        }}
        idOf={({ date, project_id, api_key_id }) => [date, project_id, api_key_id ?? ""].join(" ")}
        columns={columnsOf(group)}
        empty={
          <Empty icon={ChartColumn} title="Nothing was used">
            No session ran in this period. Choose another one.
          </Empty>
        }
      />
      <ProgramCard
        programs={{
          sdk: `for await (const day of await shoal.usage.list({ from: "${period.from}", to: "${period.to}" }))
  console.log(day.date, day.project_name, day.session_minutes);`,
          cli: `usage list --from ${period.from} --to ${period.to}`,
          curl: { path: `/usage?from=${period.from}&to=${period.to}` },
        }}
      />
    </Page>
  );
}

type Selection = ReturnType<typeof useSelection>;

interface FiltersProps {
  readonly selection: Selection;
  /** Whether the caller sees all projects. */
  readonly hasRole: boolean;
}

function Filters({ selection: { period, range, group, isForAll, change }, hasRole }: FiltersProps) {
  return (
    <Group gap="sm" align="flex-end">
      <SegmentedControl
        data={ranges}
        value={range}
        onChange={(value) => {
          change(
            value === "custom"
              ? { ...period, days: undefined }
              : { days: Number(value), from: undefined, to: undefined },
          );
        }}
        aria-label="Period"
      />
      {range === "custom" && <CustomPeriod period={period} change={change} />}
      <SegmentedControl
        data={[
          { value: "project", label: "By project" },
          { value: "api_key", label: "By key" },
        ]}
        value={group}
        onChange={(value) => {
          change({ group: value });
        }}
        aria-label="Group"
      />
      {hasRole && (
        <SegmentedControl
          data={[
            { value: "one", label: "This project" },
            { value: "all", label: "All projects" },
          ]}
          value={isForAll ? "all" : "one"}
          onChange={(value) => {
            change({ scope: value === "all" ? "all" : undefined });
          }}
          aria-label="Projects"
        />
      )}
    </Group>
  );
}

function Chart({ rows, selection }: { readonly rows: readonly UsageRow[]; readonly selection: Selection }) {
  const { period, metric, change } = selection;
  return (
    <Card withBorder padding="lg">
      <NativeSelect
        label="Figure"
        data={metricOptions}
        value={metric}
        onChange={({ currentTarget: { value } }) => {
          if (isMetric(value)) change({ metric: value });
        }}
        maw={220}
        mb="md"
      />
      <UsageChart rows={rows} period={period} metric={metric} />
    </Card>
  );
}

const columnsOf = (group: Group): readonly Column<UsageRow>[] => [
  { name: "Day", cell: ({ date }) => shortDay(date) },
  { name: "Project", cell: ({ project_name, project_id }) => project_name ?? project_id, share: 1.4 },
  ...(group === "api_key"
    ? [
        {
          name: "Key",
          cell: ({ api_key_name, api_key_id }: UsageRow) => api_key_name ?? api_key_id ?? "The service",
          share: 1.4,
        },
      ]
    : []),
  ...(["minutes", "sessions", "peak", "received", "sent"] as const).map(column),
  ...(group === "project" ? [column("storage")] : []),
];

function column(metric: Metric): Column<UsageRow> {
  const { label, of } = metrics[metric];
  return { name: label, cell: (row) => amountText(of(row), metric) };
}

function Totals({ rows }: { readonly rows: readonly UsageRow[] }) {
  return (
    <SimpleGrid cols={{ base: 2, sm: 4 }}>
      {(["minutes", "sessions", "peak", "received"] as const).map((metric) => (
        <Card key={metric} withBorder padding="md">
          <Text size="sm" c="dimmed">
            {metrics[metric].label}
          </Text>
          <Text size="xl" fw={650}>
            {amountText(totalOf(rows, metric), metric)}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  );
}

interface CustomPeriodProps {
  readonly period: Period;
  readonly change: (next: Partial<Period>) => void;
}

function CustomPeriod({ period, change }: CustomPeriodProps) {
  return (
    <>
      <TextInput
        type="date"
        label="First day"
        value={period.from}
        max={period.to}
        onChange={({ currentTarget: { value } }) => {
          if (value !== "") change({ from: value });
        }}
      />
      <TextInput
        type="date"
        label="Last day"
        value={period.to}
        min={period.from}
        onChange={({ currentTarget: { value } }) => {
          if (value !== "") change({ to: value });
        }}
      />
    </>
  );
}

type Format = "csv" | "jsonl";

interface ExportButtonsProps {
  readonly save: (format: Format, name: string) => Promise<void>;
  readonly period: Period;
}

function ExportButtons({ save, period: { from, to } }: ExportButtonsProps) {
  const download = useAction({
    act: (format: Format) => save(format, `usage-${from}-${to}.${format}`),
    changes: [],
  });
  return (["csv", "jsonl"] as const).map((format) => (
    <Button
      key={format}
      variant="default"
      leftSection={<Download size={16} aria-hidden />}
      loading={download.isPending && download.variables === format}
      onClick={() => {
        download.mutate(format);
      }}
    >
      {format === "csv" ? "CSV" : "JSON lines"}
    </Button>
  ));
}
