import { Checkbox, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import { webhookEventTypes } from "@shoal/schemas";

interface EventTypesProps<Type> {
  readonly selected: readonly Type[];
  readonly change: (types: readonly (typeof webhookEventTypes)[number][]) => void;
}

/** None selected = all, also those of later versions. */
export function EventTypes<Type extends string>({ selected, change }: EventTypesProps<Type>) {
  const names: readonly string[] = selected;
  return (
    <fieldset style={{ border: 0, margin: 0, padding: 0 }}>
      <Text component="legend" size="sm" fw={500}>
        Events
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        Select none to receive all
      </Text>
      <Stack
        gap={6}
        mah={220}
        style={{ overflowY: "auto" }}
        p={2}
        tabIndex={0}
        aria-label="Types of events"
        role="group"
      >
        {webhookEventTypes.map((type) => (
          <Checkbox
            key={type}
            size="xs"
            label={type}
            checked={names.includes(type)}
            onChange={({ currentTarget: { checked } }) => {
              change(webhookEventTypes.filter((one) => (one === type ? checked : names.includes(one))));
            }}
          />
        ))}
      </Stack>
    </fieldset>
  );
}
