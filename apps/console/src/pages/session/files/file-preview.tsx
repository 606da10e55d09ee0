import { Modal, Skeleton, Text } from "@mantine/core";
import type { FileInfo } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { blobOf } from "../../../api/blob.ts";
import { useSignedIn } from "../../../api/shoal.ts";
import { sizeText } from "../../../base/texts.ts";
import { Failure } from "../../../parts/states.tsx";
import styles from "./files.module.css";

const maxTextBytes = 512 * 1024;
const maxImageBytes = 20 * 1024 * 1024;
const imageTypes: Readonly<Record<string, string>> = {
  avif: "image/avif",
  gif: "image/gif",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  png: "image/png",
  svg: "image/svg+xml",
  webp: "image/webp",
};
const imageTypeOf = (name: string): string | undefined => imageTypes[name.split(".").at(-1)?.toLowerCase() ?? ""];

type Preview = { readonly text: string } | { readonly imageUrl: string } | { readonly problem: string };

/** Text stays text, and images are drawn by `<img>`, which runs no scripts. */
function previewOf(blob: Blob, imageType: string | undefined): Preview | Promise<Preview> {
  if (imageType !== undefined) return { imageUrl: URL.createObjectURL(blob) };
  return blob.text().then((text) => (text.includes("\0") ? { problem: "The file is not text." } : { text }));
}

interface FilePreviewProps {
  readonly id: string;
  readonly file: FileInfo | undefined;
  readonly close: () => void;
}

export function FilePreview({ id, file, close }: FilePreviewProps) {
  return (
    <Modal opened={file !== undefined} onClose={close} title={file?.name} size="xl">
      {file !== undefined && <Content id={id} file={file} />}
    </Modal>
  );
}

function Content({ id, file: { path, name, size_bytes } }: { readonly id: string; readonly file: FileInfo }) {
  const { shoal } = useSignedIn();
  const imageType = imageTypeOf(name);
  const limit = imageType === undefined ? maxTextBytes : maxImageBytes;
  const isSmall = size_bytes <= limit;
  const { data, error } = useQuery({
    queryKey: ["file", id, path, size_bytes],
    queryFn: async ({ signal }) => {
      const file = await shoal.browsers.fs.readFile(id, { path }, { signal });
      return previewOf(await blobOf(file, imageType ?? "text/plain"), imageType);
    },
    enabled: isSmall,
    gcTime: 0,
    staleTime: Infinity,
  });
  const imageUrl = data !== undefined && "imageUrl" in data ? data.imageUrl : undefined;
  useEffect(() => {
    if (imageUrl === undefined) return undefined;
    return () => {
      URL.revokeObjectURL(imageUrl);
    };
  }, [imageUrl]);
  if (!isSmall)
    return (
      <Text>
        The file has {sizeText(size_bytes)}. Previews end at {sizeText(limit)}: download it.
      </Text>
    );
  if (error !== null) return <Failure error={error} />;
  if (data === undefined) return <Skeleton height={240} aria-label="Reading the file" />;
  if ("problem" in data) return <Text>{data.problem} Download it.</Text>;
  if ("imageUrl" in data) return <img src={data.imageUrl} alt={name} className={styles.image} />;
  return (
    <pre className={styles.text} tabIndex={0} aria-label={`Content of ${name}`}>
      {data.text}
    </pre>
  );
}
