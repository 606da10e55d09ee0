import { Text } from "@mantine/core";

interface ShownCountProps {
  readonly shown: number;
  readonly all: number;
  /** Plural: `lines`. */
  readonly what: string;
}

/** `12 of 340 lines`. */
export function ShownCount({ shown, all, what }: ShownCountProps) {
  return (
    <Text size="sm" c="dimmed" role="status">
      {shown === all ? all : `${shown} of ${all}`} {what}
    </Text>
  );
}
