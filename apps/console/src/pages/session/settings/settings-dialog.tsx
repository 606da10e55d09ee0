import { Checkbox, Fieldset, Group, NativeSelect, SimpleGrid, Text, Textarea, TextInput } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import "@mantine/core/styles/Fieldset.css";
import "@mantine/core/styles/SimpleGrid.css";
import type { Browser } from "@shoal/schemas";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { resourceOptions } from "../../../api/resource-options.ts";
import { useSignedIn } from "../../../api/shoal.ts";
import { type Form, FormDialog } from "../../../parts/forms/form-dialog.tsx";
import { tell } from "../../../parts/notices.ts";
import { ProgramCard } from "../../../parts/program-card.tsx";
import { shownError } from "../../../base/shown-error.ts";
import { categories, changeOf, initialOf, type Settings } from "./settings-change.ts";
import { programsOf } from "./settings-programs.ts";

interface SettingsDialogProps {
  readonly browser: Browser;
  readonly isOpen: boolean;
  readonly close: () => void;
}

/** Changes a running session, and shows the program that does the same. */
export function SettingsDialog({ browser, isOpen, close }: SettingsDialogProps) {
  const { session_id: id } = browser;
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  return (
    <FormDialog
      isOpen={isOpen}
      title="Change the session"
      action="Save"
      size="lg"
      initial={initialOf(browser)}
      submit={async (values: Settings, initial: Settings) => {
        const change = changeOf(initial, values);
        return Object.keys(change).length === 0 ? browser : shoal.browsers.update(id, change);
      }}
      done={() => {
        tell("The session was changed.");
        void queries.invalidateQueries({ queryKey: ["browser", id] });
        close();
      }}
      close={close}
    >
      {(form) => (
        <>
          <TextInput label="Name" placeholder="none" {...form.text("name")} maxLength={255} data-autofocus />
          <Textarea label="Tags" description="One a line: team=sales" {...form.text("tags")} autosize minRows={2} />
          <NetworkFields form={form} />
          <WindowFields form={form} />
          {browser.profile === undefined && <ProfileFields form={form} />}
          <TextInput
            label="Sleep without use after, in seconds"
            description="0 = never"
            {...form.text("sleep_after_seconds")}
            required
            inputMode="numeric"
            pattern="[0-9]+"
          />
          <Fieldset legend="Telemetry">
            <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs">
              {categories.map((category) => (
                <Checkbox key={category} label={category} {...form.check(`telemetry.browser.${category}`)} />
              ))}
            </SimpleGrid>
          </Fieldset>
          <Textarea
            label="Chrome policies"
            description="A JSON object. The browser may start again, which disconnects clients."
            {...form.text("chrome_policy")}
            autosize
            minRows={1}
            maxRows={10}
            ff="monospace"
          />
          <SameFromAProgram id={id} initial={form.initial} values={form.values} />
        </>
      )}
    </FormDialog>
  );
}

interface FieldsProps {
  readonly form: Form<Settings>;
}

function NetworkFields({ form: { text } }: FieldsProps) {
  const { shoal, project } = useSignedIn();
  const { data: proxies = [] } = useQuery(resourceOptions(shoal, project?.id, "proxies"));
  return (
    <>
      <NativeSelect label="Proxy" data={proxies} {...text("proxy_id")} />
      <Group grow align="flex-start">
        <Textarea
          label="Allowed hosts"
          description="One a line. Empty = all"
          placeholder="*.example.com"
          {...text("network.allow")}
          autosize
          minRows={2}
          maxRows={8}
        />
        <Textarea
          label="Denied hosts"
          description="One a line"
          placeholder="ads.example.com"
          {...text("network.deny")}
          autosize
          minRows={2}
          maxRows={8}
        />
      </Group>
    </>
  );
}

function WindowFields({ form: { check, text } }: FieldsProps) {
  return (
    <>
      <Group grow align="flex-start">
        <TextInput label="Width" {...text("viewport.width")} inputMode="numeric" pattern="[0-9]+" />
        <TextInput label="Height" {...text("viewport.height")} inputMode="numeric" pattern="[0-9]+" />
      </Group>
      <Checkbox label="Resize even while it is watched or recorded" {...check("viewport.force")} />
    </>
  );
}

function ProfileFields({ form: { check, text, values } }: FieldsProps) {
  const { shoal, project } = useSignedIn();
  const { data: profiles = [] } = useQuery(resourceOptions(shoal, project?.id, "profiles"));
  return (
    <>
      <NativeSelect
        label="Profile"
        data={profiles}
        description="Loads its cookies and storage now. A loaded profile cannot be removed."
        {...text("profile.id")}
      />
      {values["profile.id"] !== "" && (
        <Checkbox label="Save changes to the profile at the end" {...check("profile.save_changes")} />
      )}
    </>
  );
}

interface SameProps {
  readonly id: string;
  readonly initial: Settings;
  readonly values: Settings;
}

function SameFromAProgram({ id, initial, values }: SameProps) {
  const { change, problem } = readChange(initial, values);
  if (change !== undefined) return <ProgramCard programs={programsOf(id, change)} />;
  return (
    <Text size="sm" c="dimmed">
      {problem}
    </Text>
  );
}

function readChange(initial: Settings, values: Settings) {
  try {
    const change = changeOf(initial, values);
    if (Object.keys(change).length > 0) return { change, problem: undefined };
    return { change: undefined, problem: "Change a field to see the program that does the same." };
  } catch (error) {
    return { change: undefined, problem: shownError(error) };
  }
}
