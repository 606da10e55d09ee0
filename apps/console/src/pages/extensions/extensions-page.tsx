import { Button, Card, FileButton, Group, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Extension } from "@shoal/schemas";
import { Download, Puzzle, Store, Upload } from "lucide-react";
import { type DragEvent, useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { blobOf } from "../../api/blob.ts";
import { saveAnswer } from "../../api/save-answer.ts";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { useAction } from "../../parts/action.ts";
import { CopyIcon } from "../../parts/code.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { tell } from "../../parts/notices.ts";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

const columns: readonly Column<Extension>[] = [
  {
    name: "Name",
    cell: ({ id, name }) => (
      <NameCell below={<span style={{ fontFamily: "var(--mantine-font-family-monospace)" }}>{id}</span>}>
        {name ?? "Without a name"}
      </NameCell>
    ),
    share: 1.6,
  },
  { name: "Uploaded", cell: ({ created_at }) => <Ago at={created_at} /> },
  { name: "Size", cell: ({ size_bytes }) => sizeText(size_bytes), share: 0.7 },
  { name: "Last use", cell: ({ last_used_at: at }) => (at == null ? "Never" : <Ago at={at} />) },
  {
    name: "SHA-256",
    cell: ({ checksum, name, id }) =>
      checksum == null ? (
        "Unknown"
      ) : (
        <Group gap={4} wrap="nowrap">
          <Text size="xs" ff="monospace">
            {checksum.slice(0, 12)}…
          </Text>
          <CopyIcon value={checksum} label={`Copy the SHA-256 of ${name ?? id}`} />
        </Group>
      ),
    share: 1.2,
  },
];

/** The name of an archive as a name of an extension, which has fewer characters. */
const nameOf = (file: string): string =>
  file
    .replace(/\.zip$/i, "")
    .replace(/[^\w.-]+/g, "-")
    .slice(0, 255);

export function ExtensionsPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const [isAdding, adding] = useDisclosure();
  return (
    <ListPage
      title="Extensions"
      description="Extensions that sessions start with. Upload the ZIP archive of an unpacked extension."
      actions={
        canOperate && (
          <Button variant="default" leftSection={<Store size={16} aria-hidden />} onClick={adding.open}>
            From the Chrome Web Store
          </Button>
        )
      }
      above={canOperate && <UploadArea />}
      search="Search by name or id"
      programs={{
        sdkImports: 'import { fileFromPath } from "@shoal/client/node";',
        sdk: `await shoal.extensions.upload({ name: "blocker", file: await fileFromPath("blocker.zip") });
await shoal.browsers.create({ extensions: [{ name: "blocker" }] });`,
        cli: "extensions upload blocker.zip --name blocker",
        curl: { method: "POST", path: "/extensions", flags: "-F name=blocker -F file=@blocker.zip" },
      }}
    >
      <ResourceList
        label="Extensions"
        queryKey={["extensions", project?.id]}
        read={(request, options) => shoal.extensions.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(extension) => <ExtensionMenu extension={extension} />}
        empty={{ icon: Puzzle, title: "No extensions" }}
      />
      <StoreDialog isOpen={isAdding} close={adding.close} />
    </ListPage>
  );
}

function UploadArea() {
  const { shoal } = useSignedIn();
  const [isOver, setOver] = useState(false);
  const upload = useAction({
    act: (file: File) => shoal.extensions.upload({ name: nameOf(file.name), file }),
    told: ({ name, id }) => `Extension ${name ?? id} was uploaded.`,
    changes: [["extensions"]],
  });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files.item(0);
    if (file !== null) upload.mutate(file);
  };
  return (
    <Card
      withBorder
      padding="lg"
      data-testid="drop-area"
      style={{ borderStyle: "dashed", ...(isOver && { borderColor: "var(--mantine-primary-color-filled)" }) }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => {
        setOver(false);
      }}
      onDrop={drop}
    >
      <Group justify="space-between">
        <Text size="sm">Drop a ZIP archive here, at most 50 MiB, with manifest.json at its top.</Text>
        <FileButton
          accept=".zip,application/zip"
          onChange={(file) => {
            if (file !== null) upload.mutate(file);
          }}
        >
          {(props) => (
            <Button {...props} leftSection={<Upload size={16} aria-hidden />} loading={upload.isPending}>
              Upload
            </Button>
          )}
        </FileButton>
      </Group>
    </Card>
  );
}

interface StoreDialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
}

/** Downloads from the store, and uploads the archive to the project. */
function StoreDialog({ isOpen, close }: StoreDialogProps) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  return (
    <FormDialog
      isOpen={isOpen}
      title="From the Chrome Web Store"
      action="Add"
      initial={{ url: "", name: "" }}
      submit={async ({ url, name }) => {
        const file = await blobOf(await shoal.extensions.downloadFromChromeStore({ url }), "application/zip");
        return shoal.extensions.upload({ name, file });
      }}
      done={({ name, id }) => {
        close();
        tell(`Extension ${name ?? id} was added.`);
        void queries.invalidateQueries({ queryKey: ["extensions"] });
      }}
      close={close}
    >
      {({ text }) => (
        <>
          <TextInput
            label="Address of its page in the store"
            placeholder="https://chromewebstore.google.com/detail/…"
            type="url"
            {...text("url")}
            required
            maxLength={2048}
            data-autofocus
          />
          <TextInput
            label="Name"
            description="Letters, digits, dots, underscores and hyphens"
            {...text("name")}
            required
            maxLength={255}
          />
        </>
      )}
    </FormDialog>
  );
}

function ExtensionMenu({ extension }: { readonly extension: Extension }) {
  const { shoal, project } = useSignedIn();
  const canOperate = useCanOperate();
  const { id } = extension;
  const name = extension.name ?? id;
  const download = useAction({
    act: () => saveAnswer({ project: project?.id, path: `/extensions/${id}`, name: `${name}.zip` }),
    changes: [],
  });
  const deletion = useDeletion({
    kind: "extension",
    name,
    text: "Running sessions keep it. New sessions cannot use it.",
    act: () => shoal.extensions.delete(id),
    changes: [["extensions"]],
  });
  return (
    <RowMenu
      label={`Actions for extension ${name}`}
      actions={[{ label: "Download", icon: Download, run: download.mutate }, ...(canOperate ? [deletion] : [])]}
    />
  );
}
