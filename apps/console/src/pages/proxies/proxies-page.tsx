import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import type { Proxy } from "@shoal/schemas";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Pencil, Plus, Trash2, Waypoints } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { NoMatch } from "../../parts/table/no-match.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { CreateProxyDialog, RenameProxyDialog } from "./proxy-dialogs.tsx";

const types: Readonly<Record<string, string>> = {
  custom: "Own server",
  datacenter: "Data center",
  isp: "Internet provider",
  residential: "Residential",
  mobile: "Mobile",
};

function placeOf({ protocol, config }: Proxy): string {
  if (config === undefined) return "Anywhere";
  if ("host" in config) return `${protocol ?? "https"}://${config.host}:${config.port}`;
  return Object.values(config).join(", ") || "Anywhere";
}

const columns: readonly Column<Proxy>[] = [
  {
    name: "Name",
    cell: ({ id, name }) => (
      <>
        <Text size="sm" fw={600}>
          {name ?? "Without a name"}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {id}
        </Text>
      </>
    ),
    share: 1.5,
  },
  { name: "Type", cell: ({ type }) => types[type] ?? type, share: 0.8 },
  { name: "Exit", cell: (proxy) => placeOf(proxy), share: 1.8 },
  { name: "Last check", cell: (proxy) => <LastCheck proxy={proxy} />, share: 1.8 },
];

function LastCheck({ proxy }: { readonly proxy: Proxy }) {
  const { id = "", name = id, status, last_checked, ip_address } = proxy;
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const check = useAction({ act: () => shoal.proxies.check(id), told: checkText, changes: [["proxies"]] });
  return (
    <Group gap="sm" justify="space-between" wrap="nowrap" flex={1}>
      {last_checked === undefined ? (
        "Never"
      ) : (
        <Stack gap={2} align="flex-start">
          <Badge variant="dot" color={status === "available" ? "green" : "red"} tt="none">
            {status === "available" ? "Available" : "Unavailable"}
          </Badge>
          <Text size="xs" c="dimmed">
            {ip_address !== undefined && `${ip_address}, `}
            <Ago at={last_checked} />
          </Text>
        </Stack>
      )}
      {canOperate && (
        <Button
          size="compact-sm"
          flex="none"
          variant="default"
          aria-label={`Check proxy ${name}`}
          loading={check.isPending}
          onClick={() => {
            check.mutate();
          }}
        >
          Check
        </Button>
      )}
    </Group>
  );
}

function checkText({ ip_address, latency_ms }: Proxy): string {
  return `The proxy works${ip_address === undefined ? "" : `, with the address ${ip_address}`}${
    latency_ms === undefined ? "" : `, in ${latency_ms} ms`
  }.`;
}

export function ProxiesPage() {
  const { project, shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const { query } = useSearch({ from: "/proxies" });
  const navigate = useNavigate({ from: "/proxies" });
  const [isCreating, setCreating] = useState(false);
  const list = useList(["proxies", project?.id, query], (page, options) =>
    shoal.proxies.list({ ...page, query }, options),
  );
  return (
    <Page
      title="Proxies"
      description="Exits for the traffic of sessions: your own proxy servers, or those of the operator."
      actions={
        isAdmin && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setCreating(true);
            }}
          >
            New proxy
          </Button>
        )
      }
    >
      <SearchField
        label="Search by name, host or id"
        value={query}
        change={(value) => void navigate({ search: (before) => ({ ...before, query: value }), replace: true })}
      />
      <ResourceTable
        label="Proxies"
        list={list}
        idOf={({ id = "" }) => id}
        columns={columns}
        menu={isAdmin ? (proxy) => <ProxyMenu proxy={proxy} /> : undefined}
        empty={
          query === undefined ? (
            <Empty icon={Waypoints} title="No proxies">
              Add your proxy server, check it, and start sessions with its id.
            </Empty>
          ) : (
            <NoMatch />
          )
        }
      />
      <ProgramCard
        programs={{
          sdk: `const proxy = await shoal.proxies.create({
  name: "office",
  type: "custom",
  protocol: "http",
  config: { host: "proxy.example.com", port: 3128 },
});
await shoal.proxies.check(proxy.id ?? "");`,
          cli: "proxies create --name office --type custom --protocol http --host proxy.example.com --port 3128",
          curl: {
            method: "POST",
            path: "/proxies",
            body: {
              name: "office",
              type: "custom",
              protocol: "http",
              config: { host: "proxy.example.com", port: 3128 },
            },
          },
        }}
      />
      <CreateProxyDialog
        isOpen={isCreating}
        close={() => {
          setCreating(false);
        }}
      />
    </Page>
  );
}

function ProxyMenu({ proxy }: { readonly proxy: Proxy }) {
  const { id = "" } = proxy;
  const name = proxy.name ?? id;
  const { shoal } = useSignedIn();
  const [isRenaming, setRenaming] = useState(false);
  const remove = useAction({
    act: () => shoal.proxies.delete(id),
    told: () => `Proxy ${name} was deleted.`,
    changes: [["proxies"]],
  });
  return (
    <>
      <RowMenu
        label={`Actions for proxy ${name}`}
        actions={[
          {
            label: "Rename",
            icon: Pencil,
            run: () => {
              setRenaming(true);
            },
          },
          {
            label: "Delete",
            icon: Trash2,
            isDangerous: true,
            run: remove.mutate,
            confirm: {
              title: `Delete proxy ${name}?`,
              text: "Running sessions keep it. New sessions cannot use it.",
              action: "Delete the proxy",
            },
          },
        ]}
      />
      <RenameProxyDialog
        proxy={proxy}
        isOpen={isRenaming}
        close={() => {
          setRenaming(false);
        }}
      />
    </>
  );
}
