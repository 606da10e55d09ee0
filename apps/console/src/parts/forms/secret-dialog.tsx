import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { CodeBlock } from "../code.tsx";

interface SecretDialogProps {
  /** `undefined` = closed. */
  readonly secret: string | undefined;
  /** `Your new key`. */
  readonly title: string;
  /** Why it is shown once. */
  readonly text: string;
  readonly close: () => void;
}

/** Shows a secret once. A click outside does not close the dialog. */
export function SecretDialog({ secret, title, text, close }: SecretDialogProps) {
  return (
    <Modal
      opened={secret !== undefined}
      onClose={close}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      <Stack>
        <Text size="sm">{text}</Text>
        <CodeBlock code={secret ?? ""} label={title} />
        <Group justify="flex-end">
          <Button onClick={close}>I have copied it</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
