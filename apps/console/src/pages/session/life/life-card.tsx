import { Anchor, Text, Timeline } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { useIsAdmin } from "../../../api/shoal.ts";
import { Section } from "../../../parts/detail/section.tsx";
import { Ago, Moment } from "../../../parts/moment.tsx";
import { Failure } from "../../../parts/states.tsx";
import { type LifeEvent, maxLifeEvents } from "./life-events.ts";
import styles from "./life.module.css";
import { useLife } from "./use-life.ts";

/** What happened to a session, and why it ended. */
export function LifeCard({ browser }: { readonly browser: Browser }) {
  const { events, error } = useLife(browser);
  const isAdmin = useIsAdmin();
  const { deleted_at, expires_at, ends_at, asleep_since } = browser;
  const isRunning = deleted_at === undefined;
  const shown = events.length > maxLifeEvents ? [...events.slice(0, 1), ...events.slice(1 - maxLifeEvents)] : events;
  return (
    <Section
      title="Timeline"
      actions={
        isAdmin && (
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link to="/audit" search={{ search: browser.session_id, period: "month" as const }} {...props} />
            )}
          >
            Audit log
          </Anchor>
        )
      }
    >
      {error !== null && <Failure error={error} />}
      {shown.length < events.length && (
        <Text size="sm" c="dimmed" mb="sm">
          The page shows the newest {maxLifeEvents} events.
        </Text>
      )}
      <Timeline active={shown.length - 1} bulletSize={14} lineWidth={2} aria-label="Life of the session">
        {shown.map((event) => (
          <Timeline.Item
            key={event.key}
            title={<bdi>{event.title}</bdi>}
            {...(event.isBad === true && { color: "red" })}
          >
            <Happened event={event} />
          </Timeline.Item>
        ))}
        {isRunning && (
          <Timeline.Item title={asleep_since !== undefined ? "Sleeps" : expires_at === undefined ? "In use" : "Unused"}>
            <Text size="sm" c="dimmed">
              {asleep_since !== undefined && (
                <>
                  Since <Moment at={asleep_since} />.{" "}
                </>
              )}
              {expires_at !== undefined && (
                <>
                  Ends <Ago at={expires_at} /> without use.{" "}
                </>
              )}
              {ends_at !== undefined && (
                <>
                  Its maximum duration ends <Ago at={ends_at} />.
                </>
              )}
            </Text>
          </Timeline.Item>
        )}
      </Timeline>
    </Section>
  );
}

function Happened({ event: { atMs, detail, output } }: { readonly event: LifeEvent }) {
  const at = new Date(atMs).toISOString();
  return (
    <>
      <Text size="sm" c="dimmed">
        <Moment at={at} />, <Ago at={at} />
      </Text>
      {detail !== undefined && detail !== "" && (
        <Text size="sm" className={styles.detail}>
          <bdi>{detail}</bdi>
        </Text>
      )}
      {output !== undefined && (
        <pre className={styles.output} tabIndex={0} role="group" aria-label="What the service saw">
          {output}
        </pre>
      )}
    </>
  );
}
