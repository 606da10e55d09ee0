import { Badge, Card, Group, Stack, Text, Timeline, Title } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import type { ReactNode } from "react";
import { durationText } from "../../base/texts.ts";
import { Columns } from "../../parts/columns.tsx";
import { Details } from "../../parts/details.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { endings } from "../../parts/status.tsx";

export function DetailsTab({ browser }: { readonly browser: Browser }) {
  return (
    <Columns>
      <Card withBorder padding="lg">
        <Title order={2} size="h4" mb="sm">
          Settings
        </Title>
        <Details rows={rowsOf(browser)} />
      </Card>
      <Card withBorder padding="lg">
        <Title order={2} size="h4" mb="md">
          Its life
        </Title>
        <Life browser={browser} />
      </Card>
    </Columns>
  );
}

function rowsOf(browser: Browser): readonly (readonly [string, ReactNode])[] {
  const { viewport, profile, proxy_id, pool, memory, region, placement, max_duration_seconds, telemetry } = browser;
  const captured = Object.entries(telemetry?.browser ?? {}).flatMap(([name, category]) =>
    category?.enabled === true ? [name] : [],
  );
  return [
    ["Start page", browser.start_url],
    ["Window", browser.headless ? "Without a window (headless)" : "With a window"],
    ["Size", viewport && `${viewport.width} × ${viewport.height}`],
    ["Stealth", browser.stealth ? "On" : "Off"],
    ["Timeout without use", durationText(browser.timeout_seconds * 1000)],
    ["Maximum duration", max_duration_seconds && durationText(max_duration_seconds * 1000)],
    ["Profile", profile && (profile.name ?? profile.id)],
    ["Changes of the profile", profile && (browser.profile_save_changes === true ? "Saved at the end" : "Discarded")],
    ["Proxy", proxy_id],
    ["Pool", pool && (pool.name ?? pool.id)],
    ["Memory limit", memory],
    ["Region", region],
    ["Isolation", placement === "process" ? "None (process)" : placement],
    ["Telemetry", captured.length === 0 ? "Off" : captured.join(", ")],
    ["Tags", browser.tags && Object.keys(browser.tags).length > 0 ? <TagList tags={browser.tags} /> : undefined],
  ];
}

function TagList({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  return (
    <Group gap={4}>
      {Object.entries(tags).map(([key, value]) => (
        <Badge key={key} variant="light" color="gray" tt="none">
          {key}={value}
        </Badge>
      ))}
    </Group>
  );
}

function Life({ browser }: { readonly browser: Browser }) {
  const { created_at, deleted_at, ended_reason = "", ends_at, expires_at, browser_restarts = 0, usage } = browser;
  const isRunning = deleted_at === undefined;
  return (
    <Timeline active={isRunning ? 0 : 9} bulletSize={16} lineWidth={2}>
      <Timeline.Item title="Started">
        <When at={created_at} />
      </Timeline.Item>
      {browser_restarts > 0 && (
        <Timeline.Item title="Its browser crashed, and started again" color="red">
          <Text size="sm" c="dimmed">
            A second crash ends the session.
          </Text>
        </Timeline.Item>
      )}
      {isRunning ? (
        <Timeline.Item title={expires_at === undefined ? "In use now" : "Ends without use"}>
          {expires_at !== undefined && <When at={expires_at} />}
        </Timeline.Item>
      ) : (
        <Timeline.Item title="Ended">
          <Text size="sm">{endings[ended_reason] ?? ended_reason}</Text>
          <When at={deleted_at} />
          {usage !== undefined && (
            <Text size="sm" c="dimmed">
              It ran for {durationText(usage.uptime_ms)}.
            </Text>
          )}
        </Timeline.Item>
      )}
      {isRunning && ends_at !== undefined && (
        <Timeline.Item title="Ends at its maximum duration">
          <When at={ends_at} />
        </Timeline.Item>
      )}
    </Timeline>
  );
}

function When({ at }: { readonly at: string }) {
  return (
    <Stack gap={0}>
      <Text size="sm" c="dimmed">
        <Moment at={at} />, <Ago at={at} />
      </Text>
    </Stack>
  );
}
