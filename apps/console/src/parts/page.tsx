import { Box, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";

interface PageProps {
  readonly title: string;
  /** For the window's title, if it differs. */
  readonly windowTitle?: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of a page: its heading, and the title of the window. */
export function Page({ title, windowTitle = title, description, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${windowTitle} · Shoal`;
  }, [windowTitle]);
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box>
          <Title order={1} size="h2" id="page-title" tabIndex={-1}>
            {title}
          </Title>
          {description !== undefined && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {description}
            </Text>
          )}
        </Box>
        <Group gap="xs">{actions}</Group>
      </Group>
      {children}
    </Stack>
  );
}
