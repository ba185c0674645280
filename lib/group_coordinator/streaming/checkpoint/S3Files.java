package group_coordinator;

import io.delta.storage.S3SingleDriverLogStore;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.PathFilter;
import org.apache.hadoop.fs.s3a.RemoteFileChangedException;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import STREAMING.CheckpointFileManager;
import STREAMING.FileSystemBasedCheckpointFileManager;

/** Files of a checkpoint on S3: each is one PUT, and a file that must not replace another is a conditional PUT. */
public class S3CheckpointFiles extends FileSystemBasedCheckpointFileManager {
    private static final int MOST_OUTDATED = 50;
    private static final FileStatus[] NONE = {};
    private final Path root;
    private final String deletes;
    private final List outdated = new ArrayList();
    private volatile long lastWritten = Long.MIN_VALUE;

    public S3CheckpointFiles(Path path, Configuration configuration) {
        super(path, configuration);
        root = path;
        deletes = configuration.get("group.coordinator.deletes", "");
    }

    @Override
    public CheckpointFileManager.CancellableFSDataOutputStream createAtomic(Path path, boolean overwriteIfPossible) {
        if (!isS3()) {
            return super.createAtomic(path, overwriteIfPossible);
        }
        if (isNumbered(path) && !overwriteIfPossible) {
            lastWritten = Long.parseLong(path.getName());
        }
        return Whole.begun(fs(), path, overwriteIfPossible);
    }

    /**
     * Look up a file by one request; Hadoop would look for a folder of that name as well. The batch after the last written
     * batch is not looked up: Spark is about to write it, and the conditional PUT fails if it exists.
     */
    @Override
    public boolean exists(Path path) {
        try {
            if (!isS3() || !isNumbered(path)) {
                return super.exists(path);
            }
            if (Long.parseLong(path.getName()) == lastWritten + 1) {
                return false;
            }
            ((S3AFileSystem) fs()).getS3AInternals().getObjectMetadata(path);
            return true;
        } catch (FileNotFoundException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Does nothing on S3: a folder exists as soon as it has a file. */
    @Override
    public void mkdirs(Path path) {
        if (!isS3()) {
            super.mkdirs(path);
        }
    }

    @Override
    public FileStatus[] list(Path path, PathFilter filter) {
        try {
            return fs().listStatus(path, filter);
        } catch (FileNotFoundException e) {
            return NONE;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes outdated files later, many with one request: Spark deletes them one after the other. */
    @Override
    public void delete(Path path) {
        if (!isS3() || !canWait(path)) {
            super.delete(path);
            return;
        }
        List due = null;
        synchronized (outdated) {
            outdated.add(path);
            if (outdated.size() >= MOST_OUTDATED) {
                due = new ArrayList(outdated);
                outdated.clear();
            }
        }
        if (due != null) {
            try {
                fs().createBulkDelete(root).bulkDelete(due);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private boolean isS3() {
        return "s3a".equals(fs().getScheme());
    }

    private static boolean isNumbered(Path path) {
        return path.getName().matches("[0-9]+") && path.getParent().getName().matches("offsets|commits");
    }

    private boolean canWait(Path path) {
        if (!deletes.isEmpty()) {
            return "later".equals(deletes);
        }
        return isNumbered(path) || path.getName().matches("[0-9]+\\.(changelog|zip)|.*\\.sst");
    }

    public static class Whole extends CheckpointFileManager.CancellableFSDataOutputStream {
        private final FileSystem files;
        private final Path path;
        private final FSDataOutputStream stream;
        private final String writer;
        private boolean isOver;

        public static Whole begun(FileSystem files, Path path, boolean overwrite) {
            String writer = UUID.randomUUID().toString();
            try {
                FSDataOutputStreamBuilder builder = files.createFile(path);
                builder.recursive();
                builder.overwrite(overwrite);
                builder.opt("fs.s3a.create.performance", true);
                if (!overwrite) {
                    builder.must("fs.option.create.conditional.overwrite", true);
                    builder.must("fs.s3a.create.header.writer", writer);
                }
                return new Whole(files, path, (FSDataOutputStream) builder.build(), overwrite ? null : writer);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private Whole(FileSystem files, Path path, FSDataOutputStream stream, String writer) {
            super(stream);
            this.files = files;
            this.path = path;
            this.stream = stream;
            this.writer = writer;
        }

        @Override
        public synchronized void close() throws IOException {
            if (isOver) {
                return;
            }
            isOver = true;
            try {
                stream.close();
            } catch (RemoteFileChangedException e) {
                // The first attempt may have succeeded, and only its response was lost: then the object has this writer's id.
                if (writer == null || !Arrays.equals(writer.getBytes("UTF-8"), files.getXAttr(path, "header.writer"))) {
                    throw new FileAlreadyExistsException(path.toString());
                }
            }
        }

        @Override
        public synchronized void cancel() {
            if (!isOver) {
                isOver = true;
                stream.abort();
            }
        }
    }
}

/** Commits of Delta on S3: if two drivers write the same version, a conditional PUT lets only one succeed. */
public class S3LogStore extends S3SingleDriverLogStore {
    public S3LogStore(Configuration configuration) {
        super(configuration);
    }

    /** Puts a whole file of this machine's disk with one PUT. */
    public static void put(String source, String target, boolean overwrite, Configuration configuration) throws IOException {
        Path path = new Path(target);
        S3CheckpointFiles.Whole whole = S3CheckpointFiles.Whole.begun(path.getFileSystem(configuration), path, overwrite);
        try {
            whole.write(java.nio.file.Files.readAllBytes(new java.io.File(source).toPath()));
        } catch (IOException e) {
            whole.cancel();
            throw e;
        }
        whole.close();
    }

    @Override
    public void write(Path path, Iterator actions, Boolean overwrite, Configuration configuration) throws IOException {
        S3CheckpointFiles.Whole whole = S3CheckpointFiles.Whole.begun(path.getFileSystem(configuration), path, overwrite.booleanValue());
        try {
            while (actions.hasNext()) {
                whole.write(((String) actions.next() + "\n").getBytes("UTF-8"));
            }
        } catch (IOException e) {
            whole.cancel();
            throw e;
        } catch (RuntimeException e) {
            whole.cancel();
            throw e;
        }
        try {
            whole.close();
        } catch (FileAlreadyExistsException e) {
            throw new java.nio.file.FileAlreadyExistsException(path.toString());
        }
    }
}
