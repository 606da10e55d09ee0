import { Alert, Anchor, Breadcrumbs, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { Browser, FileInfo } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FolderOpen, Upload } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";
import { Empty, Failure } from "../../../parts/states.tsx";
import { FilePreview } from "./file-preview.tsx";
import { FileTable } from "./file-table.tsx";
import styles from "./files.module.css";
import { KeptDownloads } from "./kept-downloads.tsx";
import { useDirectoryWatch } from "./use-directory-watch.ts";
import { useUpload } from "./use-upload.ts";

const homeDirectory = "/home/shoal";

export function FilesTab({ browser }: { readonly browser: Browser }) {
  if (browser.deleted_at !== undefined) return <KeptDownloads browser={browser} />;
  return <Directory id={browser.session_id} />;
}

function Directory({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const { path = homeDirectory } = useSearch({ from: "/sessions/$id" });
  const navigate = useNavigate({ from: "/sessions/$id" });
  const [shown, setShown] = useState<FileInfo>();
  const list = useQuery({
    queryKey: ["files", id, path],
    queryFn: ({ signal }) => shoal.browsers.fs.listFiles(id, { path }, { signal }),
  });
  const changes = useDirectoryWatch(id, path);
  const open = (next: string) => void navigate({ search: (before) => ({ ...before, path: next }) });
  return (
    <DropArea id={id} path={path}>
      <Group justify="space-between" gap="xs">
        <PathSteps path={path} open={open} />
        {changes.length > 0 && (
          <Text size="xs" c="dimmed" role="status">
            Last change: {changes.at(-1)}
          </Text>
        )}
      </Group>
      {list.error !== null && <Failure error={list.error} retry={() => void list.refetch()} />}
      {list.isPending && <Skeleton height={240} aria-label="Reading the directory" />}
      {list.data?.length === 0 && list.error === null && (
        <Empty icon={FolderOpen} title="The directory is empty">
          Drop files here to upload them.
        </Empty>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <FileTable
          id={id}
          files={list.data}
          open={(file) => {
            if (file.is_dir) open(file.path);
            else setShown(file);
          }}
        />
      )}
      <FilePreview
        id={id}
        file={shown}
        close={() => {
          setShown(undefined);
        }}
      />
    </DropArea>
  );
}

function PathSteps({ path, open }: { readonly path: string; readonly open: (path: string) => void }) {
  const names = path.split("/").filter((name) => name !== "");
  return (
    <Breadcrumbs separatorMargin={4} aria-label="Directory" className={styles.path}>
      {["", ...names].map((name, index) => (
        <Anchor
          key={index}
          component="button"
          type="button"
          size="sm"
          ff="monospace"
          onClick={() => {
            open(`/${names.slice(0, index).join("/")}`);
          }}
        >
          {index === 0 ? "root" : name}
        </Anchor>
      ))}
    </Breadcrumbs>
  );
}

interface DropAreaProps {
  readonly id: string;
  readonly path: string;
  readonly children: ReactNode;
}

/** Uploads dropped files into the shown directory. The button does the same by keyboard. */
function DropArea({ id, path, children }: DropAreaProps) {
  const canOperate = useCanOperate();
  const upload = useUpload(id, path);
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  if (!canOperate) return <Stack gap="sm">{children}</Stack>;
  return (
    <Stack
      gap="sm"
      className={isOver ? styles.over : styles.drop}
      data-testid="drop-area"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        upload.mutate([...event.dataTransfer.files]);
      }}
    >
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          leftSection={<Upload size={14} aria-hidden />}
          loading={upload.isPending}
          onClick={() => input.current?.click()}
        >
          Upload files
        </Button>
        <Text size="sm" c="dimmed" visibleFrom="xs">
          or drop them here
        </Text>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label="Files to upload"
          onChange={({ currentTarget }) => {
            upload.mutate([...(currentTarget.files ?? [])]);
            currentTarget.value = "";
          }}
        />
      </Group>
      {upload.error !== null && (
        <Alert color="red" title="The upload failed" role="alert">
          {upload.error.message}
        </Alert>
      )}
      {children}
    </Stack>
  );
}
