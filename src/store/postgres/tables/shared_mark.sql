-- Marks that instances hold for seconds or minutes; unlogged, see `Leases`.
CREATE UNLOGGED TABLE shared_mark (
  mark TEXT PRIMARY KEY,
  holder TEXT NOT NULL,
  ends BIGINT NOT NULL
);
CREATE INDEX shared_mark_by_end ON shared_mark (ends);
