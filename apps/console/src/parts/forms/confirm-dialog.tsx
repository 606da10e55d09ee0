import { Button, Group, Modal, Stack, Text } from "@mantine/core";

export interface Question {
  readonly title: string;
  readonly text: string;
  /** Text of the button: `Delete the key`. */
  readonly action: string;
}

interface ConfirmDialogProps {
  /** `undefined` = closed. */
  readonly asked: Question | undefined;
  readonly isDangerous?: boolean;
  readonly close: () => void;
  readonly confirm: () => void;
}

/** Asks before an action. The focus starts on "Cancel". */
export function ConfirmDialog({ asked, isDangerous = false, close, confirm }: ConfirmDialogProps) {
  return (
    // Without a fade at the end: the dialog has no texts any more.
    <Modal opened={asked !== undefined} onClose={close} title={asked?.title} transitionProps={{ exitDuration: 0 }}>
      <Stack>
        <Text size="sm">{asked?.text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button {...(isDangerous && { color: "red" })} onClick={confirm}>
            {asked?.action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
