import { NativeSelect } from "@mantine/core";
import type { Schedule } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { PayloadInput } from "../../parts/forms/payload/payload-input.tsx";
import { TimesFields } from "./times-fields.tsx";

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
                set({ app: value, action_name: first?.name ?? "", payload: "" });
              }}
              required
              data-autofocus
            />
            <NativeSelect
              label="Action"
              data={(chosen?.actions ?? []).map(({ name }) => name)}
              {...text("action_name")}
              onChange={({ currentTarget: { value } }) => {
                set({ action_name: value, payload: "" });
              }}
              required
            />
            <TimesFields cron={text("cron")} timeZone={text("time_zone")} />
            <PayloadInput
              key={`${values.app} ${values.action_name}`}
              schema={chosen?.actions.find(({ name }) => name === values.action_name)?.input_schema}
              value={values.payload}
              onChange={(payload) => {
                set({ payload });
              }}
              error={text("payload").error}
            />
          </>
        );
      }}
    </FormDialog>
  );
}
