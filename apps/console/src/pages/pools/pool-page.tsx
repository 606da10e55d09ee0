import { Anchor, Button, Progress, SimpleGrid, Stack, Text } from "@mantine/core";
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
import { Columns } from "../../parts/detail/columns.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { Moment } from "../../parts/moment.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { PoolMenu } from "./pool-menu.tsx";

const refreshMs = 2000;
const acquireSeconds = 30;

export function PoolPage() {
  const { id } = useParams({ from: "/pools/$id" });
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const query = useQuery({
    queryKey: ["pools", "one", id],
    queryFn: async ({ signal }) => shoal.browserPools.get(id, { signal }),
    refetchInterval: refreshMs,
  });
  return (
    <DetailPage
      kind="Pool"
      above={{ label: "Pools", to: "/pools" }}
      query={query}
      head={(pool) => ({
        title: nameOf(pool),
        description: "A pool: browsers that wait for sessions.",
        actions: canOperate && (
          <>
            <AcquireButton pool={pool} />
            <PoolMenu pool={pool} />
          </>
        ),
      })}
    >
      {(pool) => (
        <>
          <FillSection pool={pool} />
          <Columns>
            <ConfigurationSection pool={pool} />
            <ProgramCard
              programs={{
                sdk: `await using browser = await shoal.browserPools.acquire(${quoted(nameOf(pool))});`,
                cli: `browser-pools acquire ${forShell(nameOf(pool))}`,
                curl: { method: "POST", path: `/browser_pools/${pool.id}/acquire`, body: {} },
              }}
            />
          </Columns>
        </>
      )}
    </DetailPage>
  );
}

const nameOf = ({ id, name }: BrowserPool): string => name ?? id;

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

function FillSection({ pool }: { readonly pool: BrowserPool }) {
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
    <Section
      title="Browsers"
      actions={
        <Anchor size="sm" renderRoot={(props) => <Link to="/sessions" search={{ pool: nameOf(pool) }} {...props} />}>
          Leased sessions
        </Anchor>
      }
    >
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
      </Stack>
    </Section>
  );
}

function ConfigurationSection({ pool }: { readonly pool: BrowserPool }) {
  const { id, created_at, region, profile_id, browser_pool_config: config } = pool;
  const { viewport, timeout_seconds, extensions = [], recording, vaults = [] } = config;
  return (
    <Section title="Configuration">
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
          ["Vaults", vaults.map((one) => one.name ?? one.id).join(", ")],
          ["Video of leased browsers", recording && (recording.video === true ? "On" : "Off")],
          ["Region", region],
        ]}
      />
    </Section>
  );
}
