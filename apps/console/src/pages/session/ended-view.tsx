import { Button, Group, Text } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clapperboard, MonitorOff, TriangleAlert } from "lucide-react";
import { replaysQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { Age, Ago } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { isFailure } from "../../parts/status.tsx";
import { endTitle } from "./life/life-events.ts";
import { LastPicture } from "./last-picture.tsx";
import styles from "./session-page.module.css";
import { useShownTabs } from "./tabs.ts";

/** In place of the live view of an ended session: the reason of its end, and what to look at next. */
export function EndedView({ browser }: { readonly browser: Browser }) {
  const { session_id: id, created_at, deleted_at = created_at, lifecycle } = browser;
  const { shoal } = useSignedIn();
  const { data: replays } = useQuery(replaysQuery(shoal, id));
  const film = replays?.findLast(({ finished_at }) => finished_at != null);
  const hasFailed = isFailure(browser);
  const shown = useShownTabs();
  return (
    <>
      <Empty
        icon={hasFailed ? TriangleAlert : MonitorOff}
        title={hasFailed ? "The session failed" : "The session has ended"}
      >
        <p>
          {endTitle(browser)}. It ran for <Age from={created_at} to={deleted_at} /> and ended <Ago at={deleted_at} />.
        </p>
        {lifecycle?.ended_detail !== undefined && (
          <Text component="pre" className={styles.output}>
            {lifecycle.ended_detail}
          </Text>
        )}
        <Group justify="center" gap="xs">
          {film !== undefined && (
            <Button
              leftSection={<Clapperboard size={16} aria-hidden />}
              renderRoot={(props) => (
                <Link to="/sessions/$id/replays/$replay" params={{ id, replay: film.replay_id }} {...props} />
              )}
            >
              Watch the recording
            </Button>
          )}
          {shown.includes("details") && <TabButton tab="details">Details</TabButton>}
          {shown.includes("console") && <TabButton tab="console">Console</TabButton>}
          {shown.includes("network") && <TabButton tab="network">Network</TabButton>}
        </Group>
      </Empty>
      <LastPicture browser={browser} />
    </>
  );
}

function TabButton({ tab, children }: { readonly tab: "console" | "details" | "network"; readonly children: string }) {
  return (
    <Button
      variant="default"
      renderRoot={(props) => <Link to="." search={(before: object) => ({ ...before, tab })} {...props} />}
    >
      {children}
    </Button>
  );
}
