import { Button, Group, Modal, Stack, Text } from "@mantine/core";

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly text: string;
  readonly action: string;
  readonly isDangerous?: boolean;
  readonly close: () => void;
  readonly confirm: () => void;
}

export function ConfirmDialog({
  isOpen,
  title,
  text,
  action,
  isDangerous = false,
  close,
  confirm,
}: ConfirmDialogProps) {
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button {...(isDangerous && { color: "red" })} onClick={confirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
