import { Anchor, Badge, Button, Checkbox, Group, Text } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import type { Browser } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Age, Ago } from "../../parts/moment.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { lastUseMs } from "./session-order.ts";
import styles from "./session-table.module.css";

interface RowProps {
  readonly browser: Browser;
  readonly index: number;
  readonly offset: number;
  /** `undefined` = the role cannot end sessions. */
  readonly isSelected: boolean | undefined;
  readonly select: (ids: readonly string[], isSelected: boolean) => void;
  readonly end: (browser: Browser) => void;
}

export function SessionRow({ browser, index, offset, isSelected, select, end }: RowProps) {
  const { session_id: id, name, created_at, deleted_at, page_url } = browser;
  const canEnd = isSelected !== undefined && deleted_at === undefined;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={styles.row}
      style={{ transform: `translateY(${offset}px)`, position: "absolute" }}
    >
      <div role="cell" className={styles.choice}>
        {canEnd && (
          <Checkbox
            size="xs"
            aria-label={`Select session ${name ?? id}`}
            checked={isSelected}
            onChange={({ currentTarget: { checked } }) => {
              select([id], checked);
            }}
          />
        )}
      </div>
      <div role="cell" className={styles.session}>
        <Anchor
          fw={600}
          size="sm"
          truncate
          display="block"
          renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}
        >
          {name ?? id}
        </Anchor>
        {name !== undefined && (
          <Text size="xs" c="dimmed" ff="monospace" truncate>
            {id}
          </Text>
        )}
      </div>
      <div role="cell" className={styles.address} title={page_url}>
        {page_url?.replace(/^https?:\/\//, "")}
      </div>
      <div role="cell" className={styles.status}>
        <StatusBadge browser={browser} />
      </div>
      <div role="cell" className={styles.age}>
        <Age from={created_at} to={deleted_at} />
      </div>
      <div role="cell" className={styles.last}>
        <LastUse browser={browser} />
      </div>
      <div role="cell" className={styles.labels}>
        <Labels browser={browser} />
      </div>
      <div role="cell" className={styles.actions}>
        {canEnd && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            aria-label={`End session ${name ?? id}`}
            onClick={() => {
              end(browser);
            }}
          >
            End
          </Button>
        )}
      </div>
    </div>
  );
}

function LastUse({ browser }: { readonly browser: Browser }) {
  const usedMs = lastUseMs(browser);
  return usedMs === undefined ? <>now</> : <Ago at={new Date(usedMs).toISOString()} />;
}

function Labels({ browser: { pool, tags = {} } }: { readonly browser: Browser }) {
  return (
    <Group gap={4} wrap="nowrap">
      {pool !== undefined && (
        <Badge variant="outline" tt="none" size="sm">
          {pool.name ?? "pool"}
        </Badge>
      )}
      {Object.entries(tags)
        .slice(0, 3)
        .map(([key, value]) => (
          <Badge key={key} variant="light" color="gray" tt="none" size="sm">
            {key}={value}
          </Badge>
        ))}
    </Group>
  );
}
