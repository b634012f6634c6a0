import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.solr.client.solrj.SolrQuery;
import org.apache.solr.client.solrj.embedded.EmbeddedSolrServer;
import org.apache.solr.common.SolrDocument;
import org.apache.solr.common.SolrInputDocument;

/** Score documents by a model of the learning-to-rank module: HOME VALUES MODEL..., prints "model id score". */
public class SolrScores {
  public static void main(String[] args) throws Exception {
    Path home = Paths.get(args[0]).toAbsolutePath();
    List<String> lines = Files.readAllLines(Paths.get(args[1]));
    String[] names = lines.get(0).split("\t", -1);
    try (EmbeddedSolrServer server = new EmbeddedSolrServer(home, "core")) {
      List<SolrInputDocument> docs = new ArrayList<>();
      for (int row = 1; row < lines.size(); row++) {
        SolrInputDocument doc = new SolrInputDocument();
        doc.addField("id", String.valueOf(row - 1));
        String[] values = lines.get(row).split("\t", -1);
        for (int i = 0; i < names.length; i++) {
          if (!values[i].isEmpty()) {
            doc.addField("value_" + i, Float.parseFloat(values[i]));
          }
        }
        docs.add(doc);
      }
      server.add(docs);
      server.commit();
      for (int model = 2; model < args.length; model++) {
        SolrQuery query = new SolrQuery("*:*");
        query.setRows(docs.size());
        query.setFields("id", "score");
        query.set("rq", "{!ltr model=" + args[model] + " reRankDocs=" + docs.size() + "}");
        for (SolrDocument doc : server.query(query).getResults()) {
          System.out.println(args[model] + " " + doc.get("id") + " " + doc.get("score"));
        }
      }
    }
    System.exit(0);
  }
}
