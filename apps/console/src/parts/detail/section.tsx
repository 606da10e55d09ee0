import { Card, Group, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface SectionProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Without a frame, for tables and logs: they have their own. */
  readonly isPlain?: boolean;
  readonly children: ReactNode;
}

/** One part of a page with its heading. */
export function Section({ title, actions, isPlain = false, children }: SectionProps) {
  const content = (
    <>
      <Group justify="space-between" gap="xs" mb="sm">
        <Title order={2} size="h4">
          {title}
        </Title>
        {actions}
      </Group>
      {children}
    </>
  );
  return isPlain ? (
    <section>{content}</section>
  ) : (
    <Card component="section" withBorder padding="lg">
      {content}
    </Card>
  );
}
