import { Alert, Badge, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { AuditLogExportDestination } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { ArchiveRestore, FlaskConical, Pause, Play, Plus } from "lucide-react";
import { useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { CodeBlock } from "../../parts/code.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { tell, tellFailure } from "../../parts/notices.ts";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

const columns: readonly Column<AuditLogExportDestination>[] = [
  {
    name: "Bucket",
    cell: ({ bucket, prefix, region }) => (
      <NameCell below={region}>
        {bucket}
        {prefix !== "" && `/${prefix}`}
      </NameCell>
    ),
    share: 2,
  },
  { name: "Status", cell: (one) => <DestinationStatus destination={one} /> },
  {
    name: "Last export",
    cell: ({ last_success_at: at }) => (typeof at === "string" ? <Ago at={at} /> : "Never"),
  },
  {
    name: "Last error",
    cell: ({ last_error: error }) => error,
    share: 2,
  },
];

function DestinationStatus({
  destination: { status, consecutive_failures: failures },
}: {
  readonly destination: AuditLogExportDestination;
}) {
  const isFailing = status === "active" && failures > 0;
  return (
    <Badge variant="light" color={isFailing ? "red" : status === "active" ? "green" : "gray"} tt="none">
      {isFailing ? `Failing (${failures})` : status === "active" ? "Active" : "Paused"}
    </Badge>
  );
}

export function DestinationsTab() {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [isCreating, creating] = useDisclosure();
  const [created, setCreated] = useState<AuditLogExportDestination>();
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          S3 buckets that receive new entries continuously. Project keys cannot see them.
        </Text>
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={creating.open}>
          New destination
        </Button>
      </Group>
      {created !== undefined && <TrustHint destination={created} />}
      <ResourceList
        label="Export destinations"
        queryKey={["audit-destinations"]}
        read={(request, options) => shoal.auditLogs.exportDestinations.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(destination) => <DestinationMenu destination={destination} />}
        empty={{
          icon: ArchiveRestore,
          title: "No export destinations",
          text: "Create one to keep the log longer than the service does, in a store that it cannot change.",
        }}
      />
      <CreateDestination
        isOpen={isCreating}
        close={creating.close}
        done={(destination) => {
          creating.close();
          setCreated(destination);
          void queries.invalidateQueries({ queryKey: ["audit-destinations"] });
        }}
      />
    </Stack>
  );
}

/** What the bucket's owner has to allow. */
function TrustHint({
  destination: { bucket, external_id, kernel_role_arn },
}: {
  readonly destination: AuditLogExportDestination;
}) {
  const policy = {
    Effect: "Allow",
    Principal: { AWS: kernel_role_arn },
    Action: "sts:AssumeRole",
    Condition: { StringEquals: { "sts:ExternalId": external_id } },
  };
  return (
    <Alert color="cyan" title={`The destination ${bucket} is paused`}>
      <Stack gap="xs">
        <Text size="sm">Add this statement to the trust policy of the role, test the destination, then resume it.</Text>
        <CodeBlock code={JSON.stringify(policy, undefined, 2)} label="Statement of the trust policy" />
      </Stack>
    </Alert>
  );
}

interface CreateDestinationProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (destination: AuditLogExportDestination) => void;
}

function CreateDestination({ isOpen, close, done }: CreateDestinationProps) {
  const { shoal } = useSignedIn();
  return (
    <FormDialog
      isOpen={isOpen}
      title="New export destination"
      action="Create"
      initial={{ bucket: "", prefix: "audit/", region: "", role_arn: "", kms_key_id: "" }}
      submit={({ kms_key_id, ...fields }) =>
        shoal.auditLogs.exportDestinations.create({
          type: "s3",
          format: "jsonl.gz",
          ...fields,
          ...(kms_key_id !== "" && { kms_key_id }),
        })
      }
      done={done}
      close={close}
    >
      {({ text }) => (
        <>
          <TextInput label="Bucket" {...text("bucket")} required data-autofocus />
          <TextInput label="Prefix of object names" {...text("prefix")} />
          <TextInput label="Region" placeholder="eu-central-1" {...text("region")} required />
          <TextInput
            label="Role to assume"
            placeholder="arn:aws:iam::123456789012:role/audit"
            {...text("role_arn")}
            required
          />
          <TextInput label="KMS key (optional)" description="Default: the key of the bucket" {...text("kms_key_id")} />
        </>
      )}
    </FormDialog>
  );
}

const changes = [["audit-destinations"]];

function DestinationMenu({ destination: { id, bucket, status } }: { readonly destination: AuditLogExportDestination }) {
  const { exportDestinations } = useSignedIn().shoal.auditLogs;
  const test = useAction({
    act: () => exportDestinations.test(id),
    done: ({ success, error }) => {
      if (success) tell(`A test object was written to ${bucket}.`);
      else tellFailure(new Error(error?.message ?? "The bucket refused the test object."));
    },
    changes,
  });
  const next = status === "active" ? "paused" : "active";
  const change = useAction({ act: () => exportDestinations.update(id, { status: next }), changes });
  const deletion = useDeletion({
    kind: "destination",
    name: bucket,
    text: "The export ends. Objects in the bucket stay.",
    act: () => exportDestinations.delete(id),
    changes,
  });
  return (
    <RowMenu
      label={`Actions for destination ${bucket}`}
      actions={[
        { label: "Test", icon: FlaskConical, run: test.mutate },
        { label: next === "paused" ? "Pause" : "Resume", icon: next === "paused" ? Pause : Play, run: change.mutate },
        deletion,
      ]}
    />
  );
}
