-- Instances; unlogged, since they register again.
CREATE UNLOGGED TABLE instance (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  configuration TEXT NOT NULL,
  up_since BIGINT NOT NULL,
  seen BIGINT NOT NULL
);
