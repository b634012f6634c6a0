CREATE TABLE checks (
	id INTEGER NOT NULL, 
	last_label INTEGER NOT NULL, 
	method TEXT NOT NULL, 
	baseline TEXT NOT NULL, 
	time TEXT NOT NULL, 
	PRIMARY KEY (id)
);

CREATE TABLE claims (
	query TEXT NOT NULL, 
	doc TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	until DOUBLE PRECISION NOT NULL, 
	PRIMARY KEY (query, doc, rater)
);

CREATE TABLE decisions (
	id INTEGER NOT NULL, 
	query TEXT NOT NULL, 
	doc TEXT NOT NULL, 
	grade INTEGER, 
	rater TEXT NOT NULL, 
	time TEXT NOT NULL, 
	page TEXT, 
	superseded_by INTEGER, 
	withdrawn TEXT, 
	withdrawn_by TEXT, 
	withdrawn_page TEXT, 
	PRIMARY KEY (id)
);

CREATE TABLE label_store (
	version INTEGER NOT NULL, 
	identity TEXT, 
	PRIMARY KEY (version)
);

CREATE TABLE labels (
	id INTEGER NOT NULL, 
	query TEXT NOT NULL, 
	doc TEXT NOT NULL, 
	grade INTEGER, 
	rater TEXT NOT NULL, 
	time TEXT NOT NULL, 
	superseded_by INTEGER, 
	withdrawn TEXT, 
	page TEXT, 
	withdrawn_page TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(superseded_by) REFERENCES labels (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE orders (
	id INTEGER NOT NULL, 
	query TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	docs TEXT, 
	time TEXT NOT NULL, 
	page TEXT, 
	superseded_by INTEGER, 
	withdrawn TEXT, 
	withdrawn_by TEXT, 
	withdrawn_page TEXT, 
	PRIMARY KEY (id)
);

CREATE TABLE rater_kinds (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	kind TEXT, 
	rater TEXT NOT NULL, 
	time TEXT NOT NULL, 
	page TEXT, 
	superseded_by INTEGER, 
	withdrawn TEXT, 
	withdrawn_by TEXT, 
	withdrawn_page TEXT, 
	PRIMARY KEY (id)
);

CREATE TABLE settings (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT, 
	rater TEXT NOT NULL, 
	time TEXT NOT NULL, 
	page TEXT, 
	superseded_by INTEGER, 
	withdrawn TEXT, 
	withdrawn_by TEXT, 
	withdrawn_page TEXT, 
	PRIMARY KEY (id)
);

CREATE TABLE skips (
	query TEXT NOT NULL, 
	doc TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	time TEXT NOT NULL, 
	PRIMARY KEY (query, doc, rater)
);

CREATE TABLE judgements (
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	rater TEXT NOT NULL, 
	query TEXT, 
	doc TEXT, 
	label INTEGER, 
	fact INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(label) REFERENCES labels (id)
);

CREATE UNIQUE INDEX decisions_current ON decisions (query, doc) WHERE superseded_by IS NULL AND withdrawn IS NULL;

CREATE UNIQUE INDEX labels_current ON labels (query, doc, rater) WHERE superseded_by IS NULL AND withdrawn IS NULL;

CREATE INDEX labels_rater ON labels (rater, id) WHERE superseded_by IS NULL AND withdrawn IS NULL;

CREATE INDEX labels_superseded ON labels (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE INDEX labels_withdrawn ON labels (id) WHERE withdrawn IS NOT NULL;

CREATE UNIQUE INDEX orders_current ON orders (query, rater) WHERE superseded_by IS NULL AND withdrawn IS NULL;

CREATE UNIQUE INDEX rater_kinds_current ON rater_kinds (name) WHERE superseded_by IS NULL AND withdrawn IS NULL;

CREATE UNIQUE INDEX settings_current ON settings (name) WHERE superseded_by IS NULL AND withdrawn IS NULL;

