import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Package, Rocket } from "lucide-react";
import { ListPage } from "../../parts/table/list-page.tsx";
import { DeploymentTable } from "./deployment-table.tsx";
import { VersionTable } from "./version-table.tsx";

export function AppsPage() {
  const { tab = "apps" } = useSearch({ from: "/apps" });
  const navigate = useNavigate({ from: "/apps" });
  return (
    <ListPage
      key={tab}
      title="Apps"
      description="Your programs that the service runs, next to their browsers."
      search={tab === "apps" ? "Search by name" : "Search by app or id"}
      programs={{
        sdk: `const { id } = await shoal.invocations.create({
  app_name: "shop",
  action_name: "price",
  payload: JSON.stringify({ sku: 7 }),
  async: true,
});
const { output } = await shoal.invocations.wait(id);`,
        cli: "deploy index.ts --version 1.0.0",
        curl: {
          method: "POST",
          path: "/invocations",
          body: { app_name: "shop", action_name: "price", payload: '{"sku":7}' },
        },
      }}
    >
      <Tabs
        value={tab}
        onChange={(value) =>
          void navigate({ search: value === "deployments" ? { tab: "deployments" } : {}, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="apps" leftSection={<Package size={16} aria-hidden />}>
            Apps
          </Tabs.Tab>
          <Tabs.Tab value="deployments" leftSection={<Rocket size={16} aria-hidden />}>
            Deployments
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="apps">
          <VersionTable />
        </Tabs.Panel>
        <Tabs.Panel value="deployments">
          <DeploymentTable />
        </Tabs.Panel>
      </Tabs>
    </ListPage>
  );
}
