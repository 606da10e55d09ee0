import { Group, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { LayoutGrid, List, Search, Tag } from "lucide-react";
import { useState } from "react";
import type { SessionFilters } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";

const statuses = [
  { value: "active", label: "Running" },
  { value: "deleted", label: "Ended" },
  { value: "all", label: "All" },
] as const;
type Status = (typeof statuses)[number]["value"];

const isStatus = (value: string): value is Status => statuses.some((status) => status.value === value);
const typingMs = 250;

/** The filters are in the address. */
export function Filters({ status = "active", query = "", pool, tag = "" }: SessionFilters) {
  const navigate = useNavigate({ from: "/sessions" });
  const [typed, setTyped] = useState(query);
  const [typedTag, setTypedTag] = useState(tag);
  const change = (next: Partial<SessionFilters>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const search = useDebouncedCallback(change, typingMs);
  return (
    <Group gap="sm" align="flex-end">
      <SegmentedControl
        data={[...statuses]}
        value={status}
        onChange={(value) => {
          if (isStatus(value)) change({ status: value === "active" ? undefined : value });
        }}
        aria-label="Status"
      />
      <TextInput
        aria-label="Search by name, id, profile or pool"
        placeholder="Name, id, profile or pool"
        leftSection={<Search size={16} aria-hidden />}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          search({ query: value === "" ? undefined : value });
        }}
        data-search
        style={{ flex: "2 1 240px" }}
        maw={{ sm: 340 }}
      />
      <TextInput
        aria-label="Tag, as name=value"
        placeholder="tag=value"
        leftSection={<Tag size={16} aria-hidden />}
        value={typedTag}
        onChange={({ currentTarget: { value } }) => {
          setTypedTag(value);
          search({ tag: value.includes("=") ? value : undefined });
        }}
        style={{ flex: "1 1 140px" }}
        maw={220}
      />
      <PoolFilter pool={pool} change={change} />
      <ViewSwitch />
    </Group>
  );
}

/** Only for projects with pools. */
function PoolFilter({
  change,
  pool,
}: {
  readonly pool: string | undefined;
  readonly change: (next: Partial<SessionFilters>) => void;
}) {
  const { project, shoal } = useSignedIn();
  const { data: pools = [] } = useQuery({
    queryKey: ["pool names", project?.id],
    queryFn: async ({ signal }) => (await shoal.browserPools.list({ limit: 100 }, { signal })).items,
  });
  const names = pools.map(({ id, name }) => ({ value: name ?? id, label: name ?? id }));
  if (pool !== undefined && !names.some(({ value }) => value === pool)) names.unshift({ value: pool, label: pool });
  if (names.length === 0) return null;
  return (
    <Select
      aria-label="Pool"
      placeholder="Pool"
      data={names}
      value={pool ?? null}
      onChange={(value) => {
        change({ pool: value ?? undefined });
      }}
      clearable
      searchable
      maw={200}
    />
  );
}

function ViewSwitch() {
  const { view = "list" } = useSearch({ from: "/sessions" });
  const navigate = useNavigate({ from: "/sessions" });
  return (
    <SegmentedControl
      aria-label="View"
      value={view}
      data={[
        {
          value: "list",
          label: <List size={16} aria-label="List" role="img" display="block" style={{ marginBlock: 3 }} />,
        },
        {
          value: "grid",
          label: <LayoutGrid size={16} aria-label="Pictures" role="img" display="block" style={{ marginBlock: 3 }} />,
        },
      ]}
      onChange={(value) =>
        void navigate({
          search: (before) => ({ ...before, view: value === "grid" ? "grid" : undefined }),
          replace: true,
        })
      }
    />
  );
}
