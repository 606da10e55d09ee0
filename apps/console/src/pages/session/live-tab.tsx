import { Anchor, Button, Group, Stack, Text } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Eye, MonitorOff, MousePointer2 } from "lucide-react";
import { useState } from "react";
import { useCanOperate } from "../../api/shoal.ts";
import { LiveFrame } from "../../parts/live-frame.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { endings } from "../../parts/status.tsx";

/** Watches first: control starts with a decision, because keys and clicks then change the page of an agent. */
export function LiveTab({ browser }: { readonly browser: Browser }) {
  const [controls, setControls] = useState(false);
  const canOperate = useCanOperate();
  const { browser_live_view_url, browser_live_view_read_only_url, deleted_at, ended_reason = "" } = browser;
  if (deleted_at !== undefined)
    return (
      <Empty icon={MonitorOff} title="The session has ended">
        <p>
          {endings[ended_reason] ?? ""} <Ago at={deleted_at} />.
        </p>
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="." search={(before: object) => ({ ...before, tab: "details" as const })} {...props} />
          )}
        >
          How it went
        </Anchor>
      </Empty>
    );
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed">
          {controls ? "Your mouse and keyboard act in the session." : "You are watching. Programs stay in control."}
        </Text>
        {canOperate && browser_live_view_url !== undefined && (
          <Button
            size="xs"
            variant={controls ? "filled" : "default"}
            leftSection={controls ? <Eye size={14} aria-hidden /> : <MousePointer2 size={14} aria-hidden />}
            onClick={() => {
              setControls(!controls);
            }}
          >
            {controls ? "Return control" : "Take control"}
          </Button>
        )}
      </Group>
      <LiveFrame
        url={controls ? browser_live_view_url : browser_live_view_read_only_url}
        title={controls ? "Live view with control" : "Live view"}
        placeholder="This session has no live view."
      />
    </Stack>
  );
}
