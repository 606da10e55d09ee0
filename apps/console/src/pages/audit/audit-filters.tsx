import { Button, Group, NativeSelect, TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import { SearchField } from "../../parts/table/search-field.tsx";
import { type AuditSearch, methods, periods, strategies, strategyLabels } from "./filters.ts";

const periodLabels = { hour: "One hour", day: "One day", week: "7 days", month: "30 days" } as const;

/** The form that `datetime-local` fields use, in the reader's zone. */
function localText(at: string | undefined): string {
  if (at === undefined) return "";
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function optionOf<Value extends string>(options: readonly Value[], text: string): Value | undefined {
  return options.find((option) => option === text);
}

export function AuditFilters({ refresh, children }: { readonly refresh: () => void; readonly children: ReactNode }) {
  const { period = "day", until, method, strategy, service, search } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const change = (next: Partial<AuditSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  return (
    <Group gap="sm" align="flex-end" my="md">
      <NativeSelect
        label="Period"
        data={periods.map((value) => ({ value, label: periodLabels[value] }))}
        value={period}
        onChange={({ currentTarget: { value } }) => {
          change({ period: optionOf(periods, value) });
        }}
      />
      <TextInput
        type="datetime-local"
        label="Until"
        title="Empty = now"
        value={localText(until)}
        onChange={({ currentTarget: { value } }) => {
          change({ until: value === "" ? undefined : new Date(value).toISOString() });
        }}
      />
      <NativeSelect
        label="Method"
        data={[{ value: "", label: "All" }, ...methods]}
        value={method ?? ""}
        onChange={({ currentTarget: { value } }) => {
          change({ method: optionOf(methods, value) });
        }}
      />
      <NativeSelect
        label="Signed in with"
        data={[{ value: "", label: "All" }, ...strategies.map((value) => ({ value, label: strategyLabels[value] }))]}
        value={strategy ?? ""}
        onChange={({ currentTarget: { value } }) => {
          change({ strategy: optionOf(strategies, value) });
        }}
      />
      <SearchField
        label="Part of the service, such as apiKeys"
        value={service}
        change={(value) => {
          change({ service: value });
        }}
      />
      <SearchField
        label="Actor, path, address or status"
        value={search}
        change={(value) => {
          change({ search: value });
        }}
      />
      <Button variant="default" leftSection={<RefreshCw size={16} aria-hidden />} onClick={refresh}>
        Refresh
      </Button>
      {children}
    </Group>
  );
}
