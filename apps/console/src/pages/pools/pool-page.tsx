import { Anchor, Button, Card, Group, Progress, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import "@mantine/core/styles/Progress.css";
import "@mantine/core/styles/SimpleGrid.css";
import type { BrowserPool } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { forShell, quoted } from "../../base/programs.ts";
import { durationText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { IdText } from "../../parts/code.tsx";
import { Columns } from "../../parts/columns.tsx";
import { Details } from "../../parts/details.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Failure, Loading } from "../../parts/states.tsx";
import { PoolMenu } from "./pool-menu.tsx";

const refreshMs = 2000;
const acquireSeconds = 30;

export function PoolPage() {
  const { id } = useParams({ from: "/pools/$id" });
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const {
    data: pool,
    error,
    refetch,
  } = useQuery({
    queryKey: ["pools", "one", id],
    queryFn: async ({ signal }) => shoal.browserPools.get(id, { signal }),
    refetchInterval: refreshMs,
  });
  if (pool === undefined)
    return (
      <Page title="Pool">{error === null ? <Loading /> : <Failure error={error} retry={() => void refetch()} />}</Page>
    );
  const name = pool.name ?? pool.id;
  return (
    <Page
      trail={[{ label: "Pools", to: "/pools" }]}
      title={name}
      windowTitle={`Pool ${name}`}
      description="A pool: browsers that wait for sessions."
      actions={
        canOperate && (
          <>
            <AcquireButton pool={pool} />
            <PoolMenu pool={pool} />
          </>
        )
      }
    >
      <FillCard pool={pool} />
      <Columns>
        <ConfigurationCard pool={pool} />
        <ProgramCard
          programs={{
            sdk: `await using browser = await shoal.browserPools.acquire(${quoted(name)});`,
            cli: `browser-pools acquire ${forShell(name)}`,
            curl: { method: "POST", path: `/browser_pools/${pool.id}/acquire`, body: {} },
          }}
        />
      </Columns>
    </Page>
  );
}

/** Leases a browser, and opens its session. */
function AcquireButton({ pool: { id, name } }: { readonly pool: BrowserPool }) {
  const { shoal } = useSignedIn();
  const navigate = useNavigate();
  const acquire = useAction({
    act: async () => {
      const browser = await shoal.browserPools.acquire(id, { acquire_timeout_seconds: acquireSeconds });
      if (browser === undefined)
        throw new Error(`No browser became free in ${acquireSeconds} seconds. Try again, or make the pool larger.`);
      return browser;
    },
    told: () => `A browser of pool ${name ?? id} is leased.`,
    done: ({ session_id }) => navigate({ to: "/sessions/$id", params: { id: session_id } }),
    changes: [["pools"], ["browsers"]],
  });
  return (
    <Button
      leftSection={<Play size={16} aria-hidden />}
      loading={acquire.isPending}
      onClick={() => {
        acquire.mutate();
      }}
    >
      Acquire a browser
    </Button>
  );
}

function FillCard({ pool }: { readonly pool: BrowserPool }) {
  const { available_count, acquired_count, browser_pool_config } = pool;
  const { size, fill_rate_per_minute = 25 } = browser_pool_config;
  const starting = Math.max(0, size - available_count - acquired_count);
  const perMinute = Math.max(1, Math.round((size * fill_rate_per_minute) / 100));
  const figures = [
    ["Waiting", available_count],
    ["Leased", acquired_count],
    ["Missing", starting],
    ["Starts a minute, at most", perMinute],
  ] as const;
  return (
    <Card withBorder padding="lg">
      <Stack gap="md">
        <SimpleGrid cols={{ base: 2, sm: 4 }}>
          {figures.map(([label, value]) => (
            <div key={label}>
              <Text size="sm" c="dimmed">
                {label}
              </Text>
              <Text size="xl" fw={650}>
                {value}
              </Text>
            </div>
          ))}
        </SimpleGrid>
        <Progress.Root size="lg">
          <Progress.Section
            value={(100 * available_count) / size}
            color="teal"
            aria-label={`${available_count} of ${size} browsers wait`}
          />
          <Progress.Section
            value={(100 * acquired_count) / size}
            color="cyan"
            aria-label={`${acquired_count} of ${size} browsers are leased`}
          />
        </Progress.Root>
        <Group justify="flex-end">
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/sessions" search={{ pool: pool.name ?? pool.id }} {...props} />}
          >
            Leased sessions
          </Anchor>
        </Group>
      </Stack>
    </Card>
  );
}

function ConfigurationCard({ pool }: { readonly pool: BrowserPool }) {
  const { id, created_at, region, profile_id, browser_pool_config: config } = pool;
  const { viewport, timeout_seconds, extensions = [] } = config;
  return (
    <Card withBorder padding="lg">
      <Title order={2} size="h4" mb="sm">
        Configuration
      </Title>
      <Details
        rows={[
          ["Id", <IdText id={id} />],
          ["Created", <Moment at={created_at} />],
          ["Size", config.size],
          ["Start page", config.start_url],
          ["Window", config.headless === false ? "With a window" : "Without a window (headless)"],
          ["Size of the page", viewport && `${viewport.width} × ${viewport.height}`],
          ["Stealth", config.stealth === true ? "On" : "Off"],
          ["Timeout of a leased browser", timeout_seconds !== undefined && durationText(timeout_seconds * 1000)],
          [
            "Profile",
            profile_id !== undefined && (
              <Anchor
                size="sm"
                renderRoot={(props) => <Link to="/profiles/$id" params={{ id: profile_id }} {...props} />}
              >
                {config.profile?.name ?? profile_id}
              </Anchor>
            ),
          ],
          ["Proxy", config.proxy_id],
          ["Extensions", extensions.map((one) => one.name ?? one.id).join(", ")],
          ["Region", region],
        ]}
      />
    </Card>
  );
}
