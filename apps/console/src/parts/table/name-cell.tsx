import { Text } from "@mantine/core";
import type { ReactNode } from "react";

interface NameCellProps {
  /** The name, or a link with it. */
  readonly children: ReactNode;
  /** A second line. */
  readonly below?: ReactNode;
}

/** The first cell of a row. */
export function NameCell({ children, below }: NameCellProps) {
  return (
    <div>
      <Text component="div" size="sm" fw={600}>
        {children}
      </Text>
      {below !== undefined && (
        <Text component="div" size="xs" c="dimmed">
          {below}
        </Text>
      )}
    </div>
  );
}
