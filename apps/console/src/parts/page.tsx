import { Anchor, Box, Breadcrumbs, Group, Stack, Text, Title } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import styles from "./page.module.css";

/** A page above this one. */
export interface Crumb extends Pick<LinkProps, "params" | "search" | "to"> {
  readonly label: string;
}

interface PageProps {
  readonly title: string;
  /** For the window's title, if it differs. */
  readonly windowTitle?: string;
  /** The pages above, from the outermost. */
  readonly trail?: readonly Crumb[];
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of a page: its heading, and the title of the window. */
export function Page({ title, windowTitle = title, trail = [], description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${windowTitle} · Shoal`;
  }, [windowTitle]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box miw={0}>
          {trail.length > 0 && <Trail trail={trail} title={title} />}
          <Title order={1} size="h2" id="page-title" tabIndex={-1} className={styles.title}>
            {title}
          </Title>
          {description !== undefined && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {description}
            </Text>
          )}
        </Box>
        <div className={styles.actions}>{actions}</div>
      </Group>
      {children}
    </Stack>
  );
}

function Trail({ trail, title }: { readonly trail: readonly Crumb[]; readonly title: string }) {
  return (
    <Breadcrumbs mb={6} styles={{ root: { flexWrap: "wrap" } }}>
      {trail.map(({ label, ...to }) => (
        <Anchor key={label} size="sm" renderRoot={(props) => <Link {...to} {...props} />}>
          {label}
        </Anchor>
      ))}
      <Text component="span" size="sm" aria-current="page" truncate className={styles.here}>
        {title}
      </Text>
    </Breadcrumbs>
  );
}
