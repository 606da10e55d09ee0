import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import type { Schedule } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

interface CreateScheduleProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (schedule: Schedule) => void;
}

const maxVersions = 100;

export function CreateScheduleDialog({ isOpen, close, done }: CreateScheduleProps) {
  const { project, shoal } = useSignedIn();
  const { data } = useQuery({
    queryKey: ["apps", project?.id, "choices"],
    queryFn: async ({ signal }) => shoal.apps.list({ limit: maxVersions }, { signal }),
    enabled: isOpen,
  });
  const apps = data?.items ?? [];
  return (
    <FormDialog
      isOpen={isOpen}
      title="New schedule"
      action="Create"
      initial={{
        app: "",
        action_name: "",
        cron: "0 9 * * 1-5",
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        payload: "",
      }}
      submit={({ app, payload, ...fields }) => {
        const { app_name = "", version } = apps.find(({ id }) => id === app) ?? {};
        return shoal.schedules.create({
          ...fields,
          app_name,
          version,
          ...(payload.trim() !== "" && { payload }),
        });
      }}
      done={done}
      close={close}
    >
      {({ set, text, values }) => {
        const chosen = apps.find(({ id }) => id === values.app);
        return (
          <>
            <NativeSelect
              label="App"
              data={[
                { value: "", label: apps.length === 0 ? "No app is deployed" : "Choose an app" },
                ...apps.map(({ id, app_name, version }) => ({ value: id, label: `${app_name}, version ${version}` })),
              ]}
              {...text("app")}
              onChange={({ currentTarget: { value } }) => {
                const [first] = apps.find(({ id }) => id === value)?.actions ?? [];
                set({ app: value, action_name: first?.name ?? "" });
              }}
              required
              data-autofocus
            />
            <NativeSelect
              label="Action"
              data={(chosen?.actions ?? []).map(({ name }) => name)}
              {...text("action_name")}
              required
            />
            <TextInput
              label="Times"
              description="Minute, hour, day of the month, month, day of the week"
              {...text("cron")}
              required
            />
            <TextInput label="Time zone" {...text("time_zone")} required />
            <Textarea
              label="Payload (optional)"
              description="JSON"
              {...text("payload")}
              autosize
              minRows={2}
              maxRows={8}
              spellCheck={false}
            />
          </>
        );
      }}
    </FormDialog>
  );
}
