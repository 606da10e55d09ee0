import { Button, Checkbox, NativeSelect, Stack, Text } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import type { DefaultTelemetry, EvidenceDefaults, Project } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useOrganization } from "../../api/shoal.ts";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

const parts = {
  console: "Console messages",
  network: "Requests and answers, without bodies",
  bodies: "Bodies of requests and answers, the first kilobytes of texts",
  page: "Pages, downloads, and a picture at the end",
  interaction: "Clicks and keys",
  screenshot: "A screenshot every five seconds",
} as const;
type Part = keyof typeof parts;
const partNames = Object.keys(parts) as readonly Part[];

const unknownDefaults: EvidenceDefaults = { default_telemetry: ["off"], default_recording: false };

const namesText = (names: readonly string[]): string => (names.includes("off") ? "nothing" : names.join(", "));
const recordsText = (records: boolean): string => (records ? "from their start" : "on request only");

/** What sessions of a project keep for the time after their end. */
export function EvidenceSection({ project }: { readonly project: Project }) {
  const { isAdmin } = useOrganization();
  const [isOpen, setOpen] = useState(false);
  const { default_recording: records, default_telemetry: captured, service_defaults = unknownDefaults } = project;
  const ofService = (text: string, isOwn: boolean) => (isOwn ? text : `${text}, the default of the service`);
  return (
    <Section
      title="Evidence of sessions"
      actions={
        isAdmin && (
          <Button
            size="xs"
            variant="default"
            aria-label="Change evidence"
            onClick={() => {
              setOpen(true);
            }}
          >
            Change
          </Button>
        )
      }
    >
      <Details
        rows={[
          ["Captured", ofService(namesText(captured ?? service_defaults.default_telemetry), captured !== undefined)],
          ["Recorded", ofService(recordsText(records ?? service_defaults.default_recording), records !== undefined)],
        ]}
      />
      <Text size="sm" c="dimmed" mt="xs">
        For sessions that ask for nothing else. Passwords, cookies and tokens are masked.
      </Text>
      <EvidenceDialog
        key={String(isOpen)}
        project={project}
        isOpen={isOpen}
        close={() => {
          setOpen(false);
        }}
      />
    </Section>
  );
}

interface EvidenceDialogProps {
  readonly project: Project;
  readonly isOpen: boolean;
  readonly close: () => void;
}

function EvidenceDialog({ project, isOpen, close }: EvidenceDialogProps) {
  const { id, default_recording, default_telemetry, service_defaults = unknownDefaults } = project;
  const { shoal } = useOrganization();
  const queries = useQueryClient();
  const chosen = default_telemetry ?? service_defaults.default_telemetry;
  return (
    <FormDialog
      isOpen={isOpen}
      title="Evidence of sessions"
      action="Save"
      initial={{
        captures: default_telemetry === undefined ? "service" : default_telemetry.includes("off") ? "off" : "own",
        records: default_recording === undefined ? "service" : String(default_recording),
        console: chosen.includes("console"),
        network: chosen.includes("network") || chosen.includes("bodies"),
        bodies: chosen.includes("bodies"),
        page: chosen.includes("page"),
        interaction: chosen.includes("interaction"),
        screenshot: chosen.includes("screenshot"),
      }}
      submit={(values: Values, initial: Values) =>
        shoal.projects.update(id, changedIn(bodyOf(initial), bodyOf(values)))
      }
      done={() => {
        close();
        void queries.invalidateQueries({ queryKey: ["projects"] });
      }}
      close={close}
    >
      {({ check, text, values }) => (
        <>
          <NativeSelect
            label="Capture of new sessions"
            data={[
              { value: "service", label: `As the service: ${namesText(service_defaults.default_telemetry)}` },
              { value: "own", label: "The following" },
              { value: "off", label: "Nothing" },
            ]}
            {...text("captures")}
            data-autofocus
          />
          {values.captures === "own" && (
            <Stack gap="xs" role="group" aria-label="Captured">
              {partNames.map((name) => (
                <Checkbox key={name} label={parts[name]} {...check(name)} />
              ))}
            </Stack>
          )}
          <NativeSelect
            label="Video of new sessions"
            data={[
              { value: "service", label: `As the service: ${recordsText(service_defaults.default_recording)}` },
              { value: "true", label: "From their start" },
              { value: "false", label: "On request only" },
            ]}
            {...text("records")}
          />
        </>
      )}
    </FormDialog>
  );
}

interface Values extends Readonly<Record<Part, boolean>> {
  readonly captures: string;
  readonly records: string;
}

const nothing: DefaultTelemetry = ["off"];

const bodyOf = ({ captures, records, ...named }: Values) => ({
  default_telemetry: captures === "service" ? null : captures === "off" ? nothing : chosenIn(named),
  default_recording: records === "service" ? null : records === "true",
});

function chosenIn(values: Readonly<Record<Part, boolean>>): DefaultTelemetry {
  const named = partNames.filter((name) => values[name]);
  return named.length === 0 ? ["off"] : named;
}
