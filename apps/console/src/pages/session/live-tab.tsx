import { Button, Group, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { Browser } from "@shoal/schemas";
import { Eye, MousePointer2 } from "lucide-react";
import { Suspense, useState } from "react";
import { useCanOperate } from "../../api/shoal.ts";
import { lazyPart } from "../../parts/lazy-part.ts";
import { LiveFrame } from "../../parts/live-frame.tsx";
import { Loading } from "../../parts/states.tsx";
import { EndedView } from "./ended-view.tsx";
import styles from "./session-page.module.css";

const LiveEvents = lazyPart(() => import("./live-events.tsx"), "LiveEvents");

/** Watches first: control starts with a decision, because keys and clicks then change the page of an agent. */
export function LiveTab({ browser }: { readonly browser: Browser }) {
  const [controls, setControls] = useState(false);
  const canOperate = useCanOperate();
  const isWide = useMediaQuery("(min-width: 75em)", false, { getInitialValueInEffect: false });
  const { browser_live_view_url, browser_live_view_read_only_url, deleted_at } = browser;
  if (deleted_at !== undefined) return <EndedView browser={browser} />;
  const hasEvents =
    canOperate && isWide && Object.values(browser.telemetry?.browser ?? {}).some((one) => one?.enabled === true);
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
      <div className={hasEvents ? styles.beside : undefined}>
        <LiveFrame
          url={controls ? browser_live_view_url : browser_live_view_read_only_url}
          title={controls ? "Live view with control" : "Live view"}
          placeholder="This session has no live view."
        />
        {hasEvents && (
          <Suspense fallback={<Loading />}>
            <LiveEvents browser={browser} />
          </Suspense>
        )}
      </div>
    </Stack>
  );
}
