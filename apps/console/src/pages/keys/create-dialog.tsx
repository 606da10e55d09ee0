import { Button, Group, Modal, NativeSelect, Stack, TextInput } from "@mantine/core";
import type { CreatedApiKey } from "@shoal/schemas";
import { useMutation } from "@tanstack/react-query";
import { type SyntheticEvent, useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { Failure } from "../../parts/states.tsx";

const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "One year" },
  { value: "never", label: "Never" },
];

interface CreateDialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (key: CreatedApiKey) => void;
}

export function CreateDialog({ isOpen, close, done }: CreateDialogProps) {
  return (
    <Modal opened={isOpen} onClose={close} title="New API key">
      <CreateForm close={close} done={done} />
    </Modal>
  );
}

/** A separate component, so that each opening starts with empty fields. */
function CreateForm({ close, done }: Omit<CreateDialogProps, "isOpen">) {
  const { shoal, session, project } = useSignedIn();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  const [projectId, setProjectId] = useState(project?.id ?? "");
  const create = useMutation({
    mutationFn: () =>
      shoal.apiKeys.create({
        name,
        ...(projectId !== "" && { project_id: projectId }),
        days_to_expire: days === "never" ? null : Number(days),
      }),
    onSuccess: done,
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label="Name"
          description="The program that will use the key"
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
          }}
          required
          maxLength={255}
          data-autofocus
        />
        <NativeSelect
          label="Project"
          data={session.projects.map((one) => ({ value: one.id, label: one.name }))}
          value={projectId}
          onChange={(event) => {
            setProjectId(event.currentTarget.value);
          }}
        />
        <NativeSelect
          label="Expires after"
          data={lifetimes}
          value={days}
          onChange={(event) => {
            setDays(event.currentTarget.value);
          }}
        />
        {create.error !== null && <Failure error={create.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" loading={create.isPending}>
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
