import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import type { CreatedApiKey } from "@shoal/schemas";
import { CodeBlock } from "../../parts/code.tsx";

/** Shows a new key. The page forgets it when the dialog closes, and a click outside does not close the dialog. */
export function SecretDialog({
  created,
  close,
}: {
  readonly created: CreatedApiKey | undefined;
  readonly close: () => void;
}) {
  return (
    <Modal
      opened={created !== undefined}
      onClose={close}
      title="Your new key"
      size="lg"
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      <Stack>
        <Text size="sm">Copy the key now. The service stores only its hash, so it cannot be shown again.</Text>
        <CodeBlock code={created?.key ?? ""} label="New API key" />
        <Group justify="flex-end">
          <Button onClick={close}>I have copied it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
