//! core-site.xml and hdfs-site.xml, and one typed table of keys
