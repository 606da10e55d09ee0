import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Proxy } from "@shoal/schemas";
import { Pencil, Waypoints } from "lucide-react";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { durationText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
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
      <NameCell below={<span style={{ fontFamily: "var(--mantine-font-family-monospace)" }}>{id}</span>}>
        {name ?? "Without a name"}
      </NameCell>
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
    latency_ms === undefined ? "" : `, in ${durationText(latency_ms)}`
  }.`;
}

export function ProxiesPage() {
  const { project, shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const [isCreating, creating] = useDisclosure();
  return (
    <ListPage
      title="Proxies"
      description="Exits for the traffic of sessions: your own proxy servers, or those of the operator."
      create={isAdmin && { label: "New proxy", run: creating.open }}
      search="Search by name, host or id"
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
    >
      <ResourceList
        label="Proxies"
        queryKey={["proxies", project?.id]}
        read={(request, options) => shoal.proxies.list(request, options)}
        idOf={({ id = "" }) => id}
        columns={columns}
        menu={isAdmin && ((proxy) => <ProxyMenu proxy={proxy} />)}
        empty={{
          icon: Waypoints,
          title: "No proxies",
          text: "Add your proxy server, check it, and start sessions with its id.",
        }}
      />
      <CreateProxyDialog isOpen={isCreating} close={creating.close} />
    </ListPage>
  );
}

function ProxyMenu({ proxy }: { readonly proxy: Proxy }) {
  const { id = "" } = proxy;
  const name = proxy.name ?? id;
  const { shoal } = useSignedIn();
  const [isRenaming, renaming] = useDisclosure();
  const deletion = useDeletion({
    kind: "proxy",
    name,
    text: "Running sessions keep it. New sessions cannot use it.",
    act: () => shoal.proxies.delete(id),
    changes: [["proxies"]],
  });
  return (
    <>
      <RowMenu
        label={`Actions for proxy ${name}`}
        actions={[{ label: "Rename", icon: Pencil, run: renaming.open }, deletion]}
      />
      <RenameProxyDialog proxy={proxy} isOpen={isRenaming} close={renaming.close} />
    </>
  );
}
