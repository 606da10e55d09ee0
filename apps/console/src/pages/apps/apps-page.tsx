import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Package, Rocket } from "lucide-react";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { DeploymentTable } from "./deployment-table.tsx";
import { VersionTable } from "./version-table.tsx";

export function AppsPage() {
  const { tab = "apps", query } = useSearch({ from: "/apps" });
  const navigate = useNavigate({ from: "/apps" });
  return (
    <Page title="Apps" description="Your programs that the service runs, next to their browsers.">
      <SearchField
        key={tab}
        label={tab === "apps" ? "Search by name" : "Search by app or id"}
        value={query}
        change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
      />
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
          <VersionTable query={query} />
        </Tabs.Panel>
        <Tabs.Panel value="deployments">
          <DeploymentTable query={query} />
        </Tabs.Panel>
      </Tabs>
      <ProgramCard
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
      />
    </Page>
  );
}
